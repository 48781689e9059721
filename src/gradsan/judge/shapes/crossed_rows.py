"""What was summed up over the rows, and has the units left, meets one value of each row: that fits where there are as
many rows as units.

Axes are told apart by where they come from: a layer's output has the rows it was given, and other axes beside them. A
reduction that loses the rows and keeps another axis has nothing left that belongs to a row. Where its result is laid
beside the rows all the same, the sizes agree by chance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.axes import BY_SIZE, LAYERS
from gradsan.judge.shapes.axis_identity import AxisNames
from gradsan.record.events import Op, ValueId

REDUCING = {"sum", "mean", "max", "min", "amax", "amin", "argmax", "logsumexp"}
ADDING = {"sum", "mean", "logsumexp"}
CHOOSING_BY_ROW = {"gather"}


class CrossedRows(NamedTuple):
    """`reduced` ran over the rows; `met` puts what is left together with what has one element for each row."""

    reduced: Op
    met: Op
    size: int


def crossed_rows(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[CrossedRows]:
    layers = {
        op.nid for op in graph.named(within, LAYERS) if _has_weights(graph, op)
    }  # no pairs of two batches
    square = [nid for nid in layers if within[nid].shape[0] in within[nid].shape[1:]]
    over_rows = [op for op in graph.named(within, REDUCING) if 0 in op.facts.axes and op.shape]
    if not square or not over_rows:
        return
    names, beside, beside_units = AxisNames(graph), list[tuple[str, str]](), list[tuple[str, str]]()
    for nid in sorted(within):
        op = within[nid]
        found = None
        if op.name in BY_SIZE | CHOOSING_BY_ROW:
            # Places of a row, each with its own mean over the rows, may well be compared with anything; chosen by, not.
            pairs = beside if op.name in CHOOSING_BY_ROW else beside_units
            found = _crossing(graph, names, op, pairs, over_rows)
        if found is not None:
            yield found
            names.begin(op)
            continue
        names.add(op)
        if nid in layers:
            row, *others = names.of(op)
            beside += [(row, o) for o, n in zip(others, op.shape[1:], strict=True) if n == op.shape[0] > 1]
            beside_units += [(row, others[-1])] if op.shape[-1] == op.shape[0] > 1 else []


def _crossing(
    graph: Provenance, names: AxisNames, op: Op, beside: list[tuple[str, str]], over_rows: list[Op]
) -> CrossedRows | None:
    sides = [i for i in graph.inputs(op) if i.shape and names.knows(i)]
    if len(sides) != 2 or not beside:
        return None
    pairs = {(names.find(row), names.find(other)) for row, other in beside}
    for one, other in (sides, sides[::-1]):
        for place in range(-min(len(one.shape), len(other.shape)), 0):
            if one.shape[place] != other.shape[place] or place + len(op.shape) in op.facts.axes:
                continue
            left, row = names.of(one)[place], names.of(other)[place]
            if left != row and (row, left) in pairs:
                reduced = _lost_rows(graph, names, one, row, left, over_rows)
                if reduced is not None and not _is_flow(graph, reduced, other):
                    return CrossedRows(reduced, op, one.shape[place])
    return None


def _has_weights(graph: Provenance, op: Op) -> bool:
    return len(op.shape) > 1 and any(i.kind == "parameter" and len(i.shape) == 2 for i in graph.inputs(op))


def _is_flow(graph: Provenance, reduced: Op, other: Op) -> bool:
    """What comes in from all rows, beside what goes out of each (`flow.sum(0) - flow.sum(1)`), or beside the weight
    that each row had in it (`(w[:, None] * p).sum(0) - w`): the columns are the rows."""
    source = next(graph.inputs(reduced), reduced)
    behind, last = graph.ancestors([other.nid]), len(source.shape) - 1
    sums = [op for op in graph.named(behind, ADDING) if op.facts.axes == (last,) and source.nid in op.inputs]
    weighed = other.nid in graph.ancestors([reduced.nid]) and len(other.shape) < len(source.shape)
    return weighed or (reduced.name in ADDING and bool(sums))


def _lost_rows(
    graph: Provenance, names: AxisNames, value: Op, row: str, left: str, over_rows: list[Op]
) -> Op | None:
    """The last reduction on the way to this value that has lost the rows, and kept the axis that is left."""
    behind = graph.ancestors([value.nid])
    for op in sorted(over_rows, key=lambda op: -op.nid):
        source = next(graph.inputs(op), None)
        if op.nid not in behind or source is None or not names.knows(source):
            continue
        lost = [names.of(source)[a] for a in op.facts.axes]
        if row in lost and left in names.of(op):
            return op
    return None
