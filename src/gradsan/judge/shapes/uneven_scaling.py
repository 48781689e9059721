"""`(x - x.mean(0)) / x.std(1)`: centred along one axis, and divided by the deviation along another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.flow import SHAPING, TAKEN_OUT
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ValueId

SPREADS = {"std", "var"}
PASSING = SHAPING | TAKEN_OUT | {"add", "clamp", "sqrt", "max", "maximum"}


class UnevenScaling(NamedTuple):
    divided: Op
    mean: Op
    spread: Op


def uneven_scaling(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[UnevenScaling]:
    for op in graph.named(within, ("div",)):
        sides = list(graph.inputs(op))
        if len(sides) != 2 or (spread := _behind(graph, sides[1], SPREADS)) is None:
            continue
        centred = _before(graph, sides[0], {"sub"})
        parts = list(graph.inputs(centred)) if centred is not None else []
        mean = _behind(graph, parts[1], {"mean"}) if len(parts) == 2 else None
        if mean is None or centred is None or not mean.facts.axes or not spread.facts.axes:
            continue
        one, other = (next(graph.inputs(o), None) for o in (mean, spread))
        if one is None or other is None or one.shape != other.shape or len(one.shape) < 2:
            continue
        # Neither is part of the other: to centre each group and scale by the spread of all is a choice.
        # A deviation of what is centred already may be another step, from row to row.
        if one.nid == other.nid and not set(mean.facts.axes) & set(spread.facts.axes):
            yield UnevenScaling(op, mean, spread)


def _before(graph: Provenance, op: Op, names: set[str]) -> Op | None:
    """The operation of such a name that gave these numbers their values."""
    while op.name not in names:
        source = next(graph.inputs(op), None)
        if op.name not in SHAPING | TAKEN_OUT or source is None:
            return None
        op = source
    return op


def _behind(graph: Provenance, op: Op, names: set[str]) -> Op | None:
    """…or with a small number added."""
    while op.name not in names:
        source = next((i for i in graph.inputs(op) if i.shape), None)
        if op.name not in PASSING or source is None:
            return None
        op = source
    return op
