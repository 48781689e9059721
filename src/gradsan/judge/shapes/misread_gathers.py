"""A `gather` along another axis than the one its index was made for: it reads the first column, or row, only.

An index has one element along the axis that is chosen from, and as many as there are along the others. Where it has one
element along an axis that is *not* chosen from, only the first place there is ever read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.flow import SHAPING, unshaped
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ValueId

ORDERING = {"randperm", "argsort", "sort", "topk", "msort"}


class MisreadGather(NamedTuple):
    """`op` runs along `axis`; of the axis `other`, which has `size` places, only the first is read."""

    op: Op
    axis: int
    other: int
    size: int


def misread_gathers(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[MisreadGather]:
    for op in graph.named(within, ("gather", "take_along_dim")):
        source = next(graph.inputs(op), None)
        if source is None or reorders(graph, op) or len(op.facts.axes) != 1:
            continue
        if len(source.shape) != len(op.shape):
            continue
        if not source.floating or source.kind == "parameter":
            continue  # a table may have one column
        axis, shape = op.facts.axes[0], source.shape
        short = [a for a, n in enumerate(op.shape) if a != axis and n == 1 < shape[a]]
        others = [a for a, n in enumerate(op.shape) if a not in (axis, *short) and n != shape[a]]
        # All the rest is there, and of what is chosen there are as many as rows: those of the axis, or of the other.
        if (
            len(short) == 1
            and not others
            and op.shape[axis] in (shape[axis], shape[short[0]])
            and op.shape[axis] > 1
        ):
            yield MisreadGather(op, axis, short[0], shape[short[0]])


def reorders(graph: Provenance, gather: Op) -> bool:
    """Whether the index is an order of the rows: of the first column alone, that may be meant."""
    index = list(graph.inputs(gather))[1:]
    return any(unshaped(graph, i, SHAPING | {"getitem"}).name in ORDERING for i in index)
