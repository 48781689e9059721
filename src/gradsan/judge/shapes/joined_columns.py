"""Columns that were joined, `torch.cat([q1, q2], 1)`, are to be compared row by row: what runs over the rows of them
compares one state with another."""

from __future__ import annotations

from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.axes import ROWS, Roles, onward
from gradsan.record.events import Op, ValueId


def of_joined_columns(graph: Provenance, op: Op, source: Op, known: dict[ValueId, Roles]) -> bool:
    """The smallest of all rows of several columns that were joined, `torch.cat([q1, q2]).min(0)`: stacked, they would
    have been compared row by row. So they would side by side, `torch.cat([q1, q2], 1)`, along the other axis."""
    along = source.facts.axes if source.name in ("cat", "stack") else ()
    if along == (0,):
        joined = source.name == "cat" and op.facts.axes == (0,)
    else:
        joined = along == (1,) and 0 in op.facts.axes and known[source.nid][0] == ROWS and source.shape[0] > 1
    parts = list(graph.inputs(source)) if joined else []
    return len(parts) > 1 and len({part.shape for part in parts}) == 1 and parts[0].shape[1:] in ((), (1,))


def side_by_side_user(
    graph: Provenance, op: Op, source: Op, within: dict[ValueId, Op], known: dict[ValueId, Roles]
) -> Op | None:
    """Who averages the `logsumexp` of all rows of what was put side by side for each row, values of many actions."""
    whole = op.live and len(source.shape) == 2 and op.facts.axes == (0,) and source.facts.axes == (1,)
    if not whole or source.name != "cat" or known[source.nid][0] != ROWS or source.shape[0] < 2:
        return None
    parts = list(graph.inputs(source))
    users = list(onward(graph, op, within))
    averaged = len(users) == 1 and users[0].name in ("mean", "sum") and not users[0].shape
    return users[0] if len(parts) > 1 and averaged else None
