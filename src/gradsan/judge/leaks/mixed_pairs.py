"""Two critics of which the smaller value counts, one asked as its frozen copy and the other one live: what is fitted to
the smaller one should train neither.

Both critics have copies, and only one copy was asked. So the live one is a slip, and no choice: whoever wants gradient
through the critics (an actor that climbs the smaller one) asks both alike. What is fitted to the pair is another
network; a pair that is itself fitted to data is left alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.flow import JOINING, SHAPING, behind_all
from gradsan.judge.ledger import Contribution
from gradsan.judge.residuals import Residual, residuals
from gradsan.record.events import Op, ParamId

if TYPE_CHECKING:
    from gradsan.judge.history import History

SMALLER = {"min", "minimum", "amin", "max", "maximum", "amax"}


class MixedPair(NamedTuple):
    pair: Op
    live: Op
    copy: Op
    fit: Op  # the difference from what is fitted
    pids: set[ParamId]  # those of the live critic
    fitted: set[ParamId]


def mixed_pairs(history: History, contribution: Contribution) -> Iterator[MixedPair]:
    graph, consumed = history.graph, contribution.consumed_pids()
    roots = [root.nid for root in contribution.event.roots]
    if not consumed or not graph.named(graph.live_ancestors(roots), SMALLER):
        return
    for residual in residuals(graph, roots):
        for term in residual.live():
            pair = behind_all(graph, term.op, SHAPING)
            sides = _sides(history, pair) if pair is not None and pair.name in SMALLER else None
            if pair is None or sides is None:
                continue
            live, copy = sides
            pids = graph.live_params([live.nid]) & consumed
            fitted = _fitted(history, residual, term.sign, pids)
            if pids and fitted and not graph.is_hidden([pair.nid]) and _are_twins(history, copy, pids):
                yield MixedPair(pair, live, copy, residual.op, pids, fitted & consumed)


def _sides(history: History, pair: Op) -> tuple[Op, Op] | None:
    """The live one and the constant one of two."""
    graph = history.graph
    parts = list(graph.inputs(pair))
    if len(parts) == 1 and parts[0].name in JOINING:
        parts = list(graph.inputs(parts[0]))
    live = [part for part in parts if part.live]
    constant = [part for part in parts if not part.live and part.floating]
    return (live[0], constant[0]) if len(parts) == 2 and len(live) == len(constant) == 1 else None


def _fitted(history: History, residual: Residual, sign: int, pids: set[ParamId]) -> set[ParamId]:
    """What learns on the other side of the difference, without the live critic."""
    others = [term.op.nid for term in residual.live() if term.sign == -sign]
    made = history.graph.live_params(others)
    return set() if made & pids else made


def _are_twins(history: History, copy: Op, pids: set[ParamId]) -> bool:
    """Copies of weights that the live critic's optimizer owns, too, but of others than its own; and it has a copy."""
    targets = history.graph.value_params([copy.nid])
    sources = {history.networks.source_of(pid) for pid in targets}
    if not targets or None in sources or not all(map(history.networks.is_target, targets)):
        return False
    owners = {o.oid for pid in pids for o in history.owner_of(pid)}
    with_twins = {o.oid for pid in sources if pid for o in history.owner_of(pid)}
    copied = {history.networks.source_of(pid) for pid in history.params if history.networks.is_target(pid)}
    return bool(owners & with_twins) and not sources & pids and pids <= copied
