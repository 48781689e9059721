"""What was recorded without gradients, used in the place of what the network says now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.judge import flow
from gradsan.judge.lines.callers import used_in, way_of
from gradsan.judge.lines.source import extent
from gradsan.judge.provenance import SHAPED_LIKE
from gradsan.record.events import NOWHERE, Op, ParamId, Site, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History
    from gradsan.judge.ledger import Contribution
    from gradsan.judge.provenance import Provenance


def use_of_recorded(history: History, cut: Op, pids: set[ParamId], contribution: Contribution) -> Site:
    """The line that takes the recorded value for the present one. The same block has recorded what this loss takes as
    a constant by right (the old side of a ratio), and the loss asks the network anew: so the block is as it should be,
    and the use is not. Nowhere, if that is not so."""
    graph, block = history.graph, cut.facts.grad_off
    roots = [root.nid for root in contribution.event.roots]
    if not block or not pids <= graph.live_params(roots):
        return NOWHERE
    within = graph.ancestors(roots)
    # Not what was chosen by them, and not `ones_like`.
    numbers = {nid: op for nid, op in within.items() if op.floating and op.name not in SHAPED_LIKE}
    later = (within[nid] for nid in sorted(graph.descendants([cut.nid], numbers)))
    outside = (op for op in later if not op.live and not is_inside(history, op, block))
    use = next((op for op in outside if _is_a_summand(graph, op, within)), None)
    if use is None or not _meets_what_is_trained(history, within, block, use.nid, pids):
        return NOWHERE
    return used_in(history, use, within[max(roots)])


def is_inside(history: History, op: Op, block: Site) -> bool:
    """Whether an operation ran in the `with` or the function that has switched gradients off on this line."""
    off = history.sites[block]
    first, last = extent(off.file, off.line)
    seen = (history.sites.get(site) for site in way_of(history, op))
    return any(s is not None and s.file == off.file and first <= s.line <= last for s in seen)


def _is_a_summand(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> bool:
    """Whether what is made of it is a term of its own of the sum that the loss is."""
    stack, seen = [op.nid], {op.nid}
    while stack:
        for user in (within[nid] for nid in graph.consumers.get(stack.pop(), ()) if nid in within):
            if user.live and user.name not in flow.LINEAR:
                return False
            if user.nid not in seen:
                seen.add(user.nid)
                stack.append(user.nid)
    return True


def _meets_what_is_trained(
    history: History, within: dict[ValueId, Op], block: Site, apart_from: ValueId, pids: set[ParamId]
) -> bool:
    """Whether another way leads from what the block has recorded to a value that is live by the same parameters."""
    graph = history.graph
    stack = [op.nid for op in within.values() if op.facts.grad_off == block]
    seen = {apart_from, *stack}
    while stack:
        for nid in graph.consumers.get(stack.pop(), ()):
            if nid in seen or nid not in within:
                continue
            seen.add(nid)
            if not within[nid].live:
                stack.append(nid)
            elif pids & graph.live_params([nid]):
                return True
    return False
