"""`x.sum() / mask.sum()`: a mean over what a mask leaves, of a sum that it has not been multiplied into.

Masked values are zero where the mask is; a sum none of whose numbers is zero has not been masked by anything, nor has
one, if no mask is seen, with more numbers that are not zero than the mask leaves. What is counted must be places of a
table that go on (its zeros are at the ends of the rows), or most of all places: a sum may well be divided by how often
something happened, such as the ends of episodes."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from gradsan.judge.flow import SHAPING
from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.masks import BOUNDED, is_masked
from gradsan.record.events import Op, ValueId

MOST = 0.5  # share of the places that is kept, where the zeros lie anywhere
LENGTHS = 2  # different ones


class UnmaskedSum(NamedTuple):
    total: Op
    counted: Op
    division: Op
    shape: tuple[int, int]
    kept: int


def unmasked_sums(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[UnmaskedSum]:
    for op in graph.named(within, {"div"}):
        if len(op.inputs) != 2:
            continue
        total = _sum_behind(graph, graph.get(op.inputs[0]), SHAPING | {"neg"})
        count = _sum_behind(graph, graph.get(op.inputs[1]), BOUNDED)
        if total is None or count is None or not total.live or count.live or total.shape != count.shape:
            continue
        summed, counted = graph.get(total.inputs[0]), graph.get(count.inputs[0])
        values, mask = total.facts.mask, count.facts.mask
        if (
            summed is None
            or counted is None
            or values is None
            or mask is None
            or summed.shape != counted.shape
        ):
            continue
        rows, places = summed.shape[0], prod(summed.shape[1:])
        if (
            _is_whole(graph, summed, values.kept, mask.kept)
            and mask.low == 0.0
            and leaves_places(mask.tails, mask.kept / (rows * places))
        ):
            yield UnmaskedSum(total, count, op, (rows, places), mask.kept)


def _is_whole(graph: Provenance, summed: Op, numbers: int, kept: int) -> bool:
    """Whether more of the numbers are not zero than a mask would have left, and nothing has masked them on the way; a
    few may be zero by themselves."""
    return numbers == prod(summed.shape) or (numbers > kept and not is_masked(graph, summed, {}))


def _sum_behind(graph: Provenance, op: Op | None, through: set[str]) -> Op | None:
    while op is not None and op.name != "sum" and op.inputs:
        is_scaled = op.name == "mul" and len(op.inputs) == 1  # by a coefficient
        if op.name not in through and not is_scaled:
            return None
        op = graph.get(op.inputs[0])
    return op if op is not None and op.name == "sum" and op.inputs else None


def leaves_places(tails: tuple[int, ...], share: float) -> bool:
    """Whether a mask is one of places that go on, and no count of what happened."""
    return len(set(tails)) >= LENGTHS or share >= MOST
