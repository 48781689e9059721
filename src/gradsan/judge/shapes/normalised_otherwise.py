"""Distributions over one axis of `[B, A, N]` (atoms of a value), of which one is normalised along the other: along the
actions, of which the taken one is picked afterwards. A network and its copy mean the same by the same axis."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from gradsan.judge.flow import SHAPING
from gradsan.judge.history import History
from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.axes import ROWS, UNITS, Roles, onward
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


def picked_across(history: History, op: Op, within: dict[ValueId, Op]) -> Op | None:
    """Who picks along another axis than the one that `op` normalises, where the same choices are picked elsewhere in
    this loss from what was normalised along theirs: one of two scores of one choice, whatever they are made of."""
    graph = history.graph
    if op.name not in NORMALISING or len(op.facts.axes) != 1:
        return None
    for user in onward(graph, op, within):
        if user.name != "gather" or user.facts.axes == op.facts.axes or not user.facts.axes:
            continue
        for other in graph.named(within, ("gather",)):
            source = next(graph.inputs(other), op)
            right = source.name in NORMALISING and source.facts.axes == other.facts.axes == user.facts.axes
            if right and source.shape == op.shape and choices_of(graph, other) == choices_of(graph, user):
                return user
    return None


def choices_of(graph: Provenance, op: Op) -> ValueId | None:
    """What a `gather` picks by, before it was given one more axis."""
    index = next((i for i in graph.inputs(op) if not i.floating), None)
    while index is not None and index.name in {"getitem", *SHAPING}:
        source = next(graph.inputs(index), None)
        if source is None or prod(source.shape) != prod(index.shape):
            break
        index = source
    return index.nid if index is not None else None


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


def expected_across(
    history: History, op: Op, within: dict[ValueId, Op], known: dict[ValueId, Roles]
) -> Op | None:
    """Who weighs a row of constants (the atoms of a value) with shares that do not add up to one along it:
    `(probs * atoms).sum(-1)` of `[B, A, N]` that was normalised along the actions, or along the batch."""
    graph, last = history.graph, len(op.shape) - 1
    if op.name not in NORMALISING or len(op.shape) < 3 or len(op.facts.axes) != 1 or last in op.facts.axes:
        return None
    if op.facts.axes == (0,) and not _is_of_another_row(history, op, within, known):
        return None
    shares = [op] if op.name == "softmax" else [u for u in onward(graph, op, within) if u.name == "exp"]
    for product in (user for share in shares for user in onward(graph, share, within) if user.name == "mul"):
        others = [i for i in graph.inputs(product) if not i.live and i.shape == op.shape[-1:]]
        for total in onward(graph, product, within) if others else ():
            if total.name == "sum" and total.facts.axes == (last,):
                return total
    return None


def _is_of_another_row(
    history: History, op: Op, within: dict[ValueId, Op], known: dict[ValueId, Roles]
) -> bool:
    """Whether the first axis is that of the batch, not one of members or of what is attended to: elsewhere in this loss
    the same columns, of the same network or its copy, are normalised for themselves."""
    source = next(history.graph.inputs(op), op)
    words = known.get(source.nid, ())
    if words[:1] != (ROWS,) or words[-1:] != (UNITS,) or op.shape[0] < 2:
        return False
    return any(
        other.shape[-1] == op.shape[-1]
        and other.facts.axes == (len(other.shape) - 1,)
        and _of_one_network(history, op, other)
        for other in history.graph.named(within, NORMALISING)
        if other.shape
    )
