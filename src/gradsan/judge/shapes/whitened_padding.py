"""`(a - a.mean()) / a.std()` of a table whose rows end in padding, which the same loss masks: the zeros there pull the
mean towards nothing, and the deviation with it. A table is put together place by place; one number for each row that
was spread over its places has the same mean without padding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.masks import Masked
from gradsan.record.events import Op, ValueId

PUT_TOGETHER = {"stack", "cat", "setitem"}
PICKING = {"getitem", "index_select"}
LENGTHS, NEAR = 3, 6


class Whitened(NamedTuple):
    """A mean over all places. Of `places`, `padding` count for nothing afterwards."""

    mean: Op
    mask: Op
    places: int
    padding: int


def whitened_padding(
    graph: Provenance, masked: list[Masked], behind: dict[ValueId, Op]
) -> Iterator[Whitened]:
    """`behind`: all that a loss was made of, with or without a graph."""
    fitting = {shape: one for one in masked if _ends_rows(one.product) for shape in _shapes(graph, one)}
    for op in graph.named(behind, {"sub"}) if fitting else ():
        one = fitting.get(op.shape)
        if op.live or one is None or len(op.inputs) != 2:
            continue
        table, mean = (graph.get(nid) for nid in op.inputs)
        if (
            table is None
            or mean is None
            or mean.name != "mean"
            or mean.shape
            or mean.inputs[:1] != (table.nid,)
        ):
            continue
        if _is_put_together(graph, table) and one.product.facts.mask is not None:
            tails = one.product.facts.mask.tails
            rows, width = one.product.shape
            yield Whitened(mean, one.product, rows * width, sum(tails))


def _shapes(graph: Provenance, one: Masked) -> Iterator[tuple[int, ...]]:
    """Of what is masked, and of the whole table that its rows were picked from."""
    yield one.product.shape
    op: Op | None = one.mask
    while op is not None and len(op.inputs) > 0 and op.name in PICKING | {"float", "to", "long", "bool"}:
        op = graph.get(op.inputs[0])
        if op is not None and op.shape[1:] == one.product.shape[1:] and op.shape[0] > one.product.shape[0]:
            yield op.shape


def _ends_rows(product: Op) -> bool:
    """Whether the zeros of a mask stand at the ends of rows of different lengths, and nowhere else."""
    mask = product.facts.mask
    if mask is None or (mask.low, mask.high) != (0.0, 1.0) or len(set(mask.tails)) < LENGTHS:
        return False
    return sum(mask.tails) == product.shape[0] * product.shape[1] - mask.kept


def _is_put_together(graph: Provenance, table: Op) -> bool:
    stack, seen = [table], set[ValueId]()
    for _ in range(NEAR):
        if not stack:
            return False
        op = stack.pop()
        if op.name in PUT_TOGETHER:
            return True
        seen.add(op.nid)
        same = (source for source in graph.inputs(op) if source.nid not in seen)
        stack += [source for source in same if sorted(source.shape) == sorted(table.shape)]
    return False
