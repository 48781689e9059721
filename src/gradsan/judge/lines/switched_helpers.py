"""Who asked a function that records no graph where one was needed: `@torch.no_grad()` on what others call by right.

A target, a baseline, an action want numbers, and so the function that gives them has gradients off. It is not the line
to change where another of its callers learns all that it should; the one that takes its numbers for a loss is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.judge.lines.callers import Way, caller_apart, function_of, way_of
from gradsan.record.events import NOWHERE, BackwardId, Op, Site, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History


def asked_without_gradients(history: History, cut: Op, wrong: set[ValueId], within: BackwardId) -> Site:
    """The line that asked for it in the loss of this backward; nowhere, where nobody asks for it by right. `wrong`:
    all the cuts of that loss."""
    own = _callers(history, cut)
    if not own or _goes_on_live(history, cut):
        return NOWHERE
    ops, off = history.graph.ops, cut.facts.grad_off
    spoiled = {cut.chain, *(ops[nid].chain for nid in wrong if nid in ops)}
    taken = {op.chain: op for nid in _taken(history, off, within) if (op := ops[nid]).chain not in spoiled}
    right = [_callers(history, op) for op in taken.values()]
    site = caller_apart(history, (off, *own), [(off, *way) for way in right if way])
    return NOWHERE if site == off else site


def _goes_on_live(history: History, cut: Op) -> bool:
    """Whether the function itself learns from what it made without gradients: it gives no mere numbers."""
    graph, switch, way = history.graph, function_of(history, cut.facts.grad_off), way_of(history, cut)
    stack, seen = [cut.nid], {cut.nid}
    while stack:
        for user in filter(None, map(graph.get, graph.consumers.get(stack.pop(), ()))):
            theirs = way_of(history, user)
            here = any(function_of(history, site) == switch for site in theirs) and theirs[-1:] == way[-1:]
            if user.live and here:
                return True
            if here and user.nid not in seen:
                seen.add(user.nid)
                stack.append(user.nid)
    return False


def _callers(history: History, op: Op) -> Way:
    """The lines that the function was called from which switches gradients off."""
    path, switch = way_of(history, op), function_of(history, op.facts.grad_off)
    inside = [up for up, site in enumerate(path) if function_of(history, site) == switch]
    return path[inside[-1] + 1 :] if inside else ()


def _taken(history: History, off: Site, within: BackwardId) -> set[ValueId]:
    """What was made with gradients off there and is part of a loss that lacks nothing: this one, apart from its cuts,
    or another that was sent backward."""
    graph, found = history.graph, set[ValueId]()
    for other in history.ledger.recent.values():
        lacking = {cut.op.facts.grad_off for cut in other.cuts}
        if other.event.error or (other.bid != within and off in lacking):
            continue
        behind = graph.ancestors(root.nid for root in other.event.roots)
        found |= {nid for nid, op in behind.items() if op.facts.grad_off == off}
    return found
