"""`log_probs[:, actions].mean()`: every row is scored by the choices of all rows, and the pairs are averaged away."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.meetings import STAYING, Meeting
from gradsan.record.events import Op, ValueId

REDUCING = {"mean", "sum"}


def choices_of_all_rows_averaged(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[Meeting]:
    """A choice for each row, taken from every row. There are more of them than columns, so that these are not columns
    which were picked; and nothing tells one pair from another before all are averaged."""
    for op in graph.named(within, ("getitem",)):
        given = list(graph.inputs(op)) if op.live else []
        if len(given) != 2 or given[1].floating or len(given[0].shape) != 2:
            continue
        table, index = given
        (rows, columns), square = table.shape, op.shape == index.shape * 2
        if square and index.shape == (rows,) and rows > columns > 1 and _is_averaged(graph, op, within):
            yield Meeting(op, index, table, op)


def _is_averaged(graph: Provenance, op: Op, within: dict[ValueId, Op]) -> bool:
    """Whether all that happens on the way to one number is that it is scaled."""
    while op.shape:
        users = [within[n] for n in dict.fromkeys(graph.consumers.get(op.nid, ())) if n in within]
        if len(users) != 1 or len([i for i in graph.inputs(users[0]) if i.shape]) > 1:
            return False
        op = users[0]
        if op.name not in (STAYING if op.shape else REDUCING):
            return False
    return True
