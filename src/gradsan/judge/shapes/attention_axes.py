"""Attention whose weights were normalised along another axis than the one that its product sums over.

`weights @ values` multiplies matrices: it sums over the last axis of the weights, and does so for each sample of the
batch. A softmax along the samples, or along the queries, gives weights that do not add up to one for anybody. What is
divided by its own sum afterwards (slots that compete for the inputs) is normalised once more, and is not looked at.
"""

from __future__ import annotations

from gradsan.judge.provenance import Provenance
from gradsan.judge.shapes.axes import onward
from gradsan.record.events import Op, ValueId

PRODUCTS = {"bmm", "matmul"}
KEEPING = {"dropout", "masked_fill", "where", "contiguous", "to", "float"}


def summed_along_another(graph: Provenance, weights: Op, within: dict[ValueId, Op]) -> Op | None:
    """The product of values for each sample with weights `[B, …, queries, keys]` that were normalised along the
    samples or the queries."""
    dims, along = len(weights.shape), weights.facts.axes
    if (
        weights.name != "softmax"
        or not weights.live
        or dims < 3
        or along not in ((0,), (dims - 2,))
        or min(weights.shape) < 2
    ):
        return None
    stack, seen = [weights], {weights.nid}
    while stack:
        value = stack.pop()
        for user in onward(graph, value, within):
            if user.nid in seen or user.shape[:-1] != weights.shape[:-1]:
                continue
            seen.add(user.nid)
            if user.name in PRODUCTS and _is_left(graph, user, value):
                return user
            if user.name in KEEPING and user.shape == weights.shape:
                stack.append(user)
    return None


def _is_left(graph: Provenance, product: Op, weights: Op) -> bool:
    sides = list(graph.inputs(product))
    return len(sides) == 2 and sides[0].nid == weights.nid and len(sides[1].shape) == len(weights.shape)
