"""Values per row that are written into columns chosen for the whole batch.

`table[:, actions] = targets[:, None]` writes every column that anybody has chosen, in every row; what was meant is one
place in each row, `table[rows, actions] = targets`. Where there are more rows than columns, some column is named twice,
and no list of columns is meant."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.meetings import Meeting
from gradsan.record.events import Op, ValueId


def blocks_written(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[Meeting]:
    for op in graph.named(within, ("setitem",)):
        given = list(graph.inputs(op))
        if op.facts.axes != (1,) or len(given) != 3 or len(op.shape) != 2:
            continue
        table, index, value = given
        rows, columns = table.shape
        chosen = not index.floating and index.shape == (rows,) and rows > columns
        if chosen and value.shape in ((rows,), (rows, 1)):
            yield Meeting(op, value, table)
