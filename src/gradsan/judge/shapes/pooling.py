"""Weights that were normalised over the batch, and pool something else: each row's own steps, entities or agents.

Which axis is which is told by sizes, where all that matter are different: what a product of weights and values has
lost is what was pooled, and what it still has is what it is done for each of.
"""

from __future__ import annotations

from gradsan.judge.flow import SHAPING, is_averaged
from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.axes import onward
from gradsan.record.events import Op, ValueId

PRODUCTS = {"bmm", "matmul", "einsum", "baddbmm"}
PASSING = SHAPING | {"mul", "dropout", "masked_fill", "where"}


def pooled_for_each_row(graph: Provenance, weights: Op, within: dict[ValueId, Op]) -> Op | None:
    """The pooling of a live softmax over the first axis that keeps that very axis, which the values have as well, and
    loses another one. What is only averaged afterwards is a sum of all in any order."""
    rows = weights.shape[0]
    others = [n for n in weights.shape[1:] if n > 1]
    if not weights.live or rows < 2 or not others:
        return None
    if len({rows, *others}) <= len(others):
        return _summed_along_the_other(graph, weights, within)
    stack, seen = [(weights, False)], {weights.nid}
    while stack:
        value, multiplied = stack.pop()
        for user in onward(graph, value, within):
            if user.nid in seen:
                continue
            seen.add(user.nid)
            partners = [i for i in graph.inputs(user) if i.nid != value.nid and i.floating]
            if user.name in PRODUCTS and any(
                _is_lost(n, rows, value, p, user) for p in partners for n in others
            ):
                return None if is_averaged(graph, user, within) else user
            if (
                user.name == "sum"
                and multiplied
                and any(_is_lost(n, rows, value, value, user) for n in others)
            ):
                return None if is_averaged(graph, user, within) else user
            if user.name in PASSING:
                by_values = any(_has(p, rows, n) and p.live for p in partners for n in others)
                stack.append((user, multiplied or by_values))
    return None


def _summed_along_the_other(graph: Provenance, weights: Op, within: dict[ValueId, Op]) -> Op | None:
    """The same where both axes have one size: `(w.unsqueeze(-1) * values).sum(1)` keeps their places."""
    if len(weights.shape) != 2:
        return None
    for column in onward(graph, weights, within):
        if column.shape != (*weights.shape, 1) or column.name not in SHAPING | {"getitem"}:
            continue
        for product in onward(graph, column, within):
            partners = [i for i in graph.inputs(product) if i.nid != column.nid and i.live]
            if product.name != "mul" or not any(p.shape == product.shape for p in partners):
                continue
            for user in onward(graph, product, within):
                if user.name == "sum" and user.facts.axes == (1,) and product.shape[2:] == user.shape[1:]:
                    return None if is_averaged(graph, user, within) else user
    return None


def _has(op: Op, rows: int, other: int) -> bool:
    return op.shape.count(rows) == 1 and op.shape.count(other) == 1


def _is_lost(other: int, rows: int, weights: Op, values: Op, made: Op) -> bool:
    kept = made.shape.count(rows) == 1 and other not in made.shape
    return kept and _has(weights, rows, other) and _has(values, rows, other)
