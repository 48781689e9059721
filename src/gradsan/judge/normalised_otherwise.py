"""Distributions over one axis of `[B, A, N]` (atoms of a value), of which one is normalised along the other: along the
actions, of which the taken one is picked afterwards. A network and its copy mean the same by the same axis."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.axes import onward
from gradsan.judge.history import History
from gradsan.record.events import Op, ValueId

NORMALISING = {"softmax", "log_softmax"}


def picked_along(history: History, op: Op, within: dict[ValueId, Op]) -> Op | None:
    """Who picks one element of each row along the axis that `op` normalises, where the same values, of the same network
    or its copy, are normalised along another axis elsewhere in this loss, and are picked along this one, too."""
    if op.name not in NORMALISING or len(op.shape) < 3 or op.facts.axes == (0,) or len(op.facts.axes) != 1:
        return None
    picks = next(_picks(history, op, op.facts.axes[0], within), None)
    if picks is None:
        return None
    others = (o for o in within.values() if o.name in NORMALISING and o.facts.axes != op.facts.axes)
    for other in others:
        alike = other.shape[1:] == op.shape[1:] and len(other.facts.axes) == 1 and other.facts.axes != (0,)
        if alike and _of_one_network(history, op, other):
            chosen = _picks(history, other, op.facts.axes[0], within)
            return picks if next(chosen, None) is not None else None
    return None


def _picks(history: History, op: Op, axis: int, within: dict[ValueId, Op]) -> Iterator[Op]:
    """By index: `x[rows, action]`, `x.gather(1, action)`."""
    for user in onward(history.graph, op, within):
        by_rows = (
            axis == 1 and user.name == "getitem" and len(user.inputs) == 3 and len(user.shape) < len(op.shape)
        )
        if by_rows or (user.name in ("gather", "take_along_dim") and user.facts.axes == (axis,)):
            yield user


def _of_one_network(history: History, one: Op, other: Op) -> bool:
    graph, networks = history.graph, history.networks
    mine, theirs = (set(graph.value_params([o.nid])) for o in (one, other))
    copied = {networks.source_of(pid) or pid for pid in theirs}
    return bool(mine) and bool(mine & copied or {networks.source_of(pid) or pid for pid in mine} & theirs)
