"""`log_probs[:, actions]`: every row is scored by the choices of all rows, and the pairs are averaged away, or one of
the choices is kept for all rows."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.meetings import STAYING, Meeting
from gradsan.record.events import Op, ValueId

REDUCING = {"mean", "sum"}


def choices_of_all_rows_averaged(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[Meeting]:
    """A choice for each row, taken from every row. There are more of them than columns, so that these are not columns
    which were picked; and nothing tells one pair from another before all are averaged, or the first column is taken."""
    for op in graph.named(within, ("getitem",)):
        given = list(graph.inputs(op)) if op.live else []
        if len(given) != 2 or given[1].floating or len(given[0].shape) != 2:
            continue
        table, index = given
        (rows, columns), square = table.shape, op.shape == index.shape * 2
        if not square or index.shape != (rows,) or not rows > columns > 1:
            continue
        if _is_averaged(graph, op, within) or _is_one_for_all(graph, op, within):
            yield Meeting(op, index, table, op)


def _is_one_for_all(graph: Provenance, pairs: Op, within: dict[ValueId, Op]) -> bool:
    """`[:, 0]`: of the choices of all rows, one."""
    users = [within[n] for n in dict.fromkeys(graph.consumers.get(pairs.nid, ())) if n in within]
    return len(users) == 1 and users[0].name in ("getitem", "select") and len(users[0].inputs) == 1


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
