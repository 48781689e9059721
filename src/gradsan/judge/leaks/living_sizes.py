"""`-alpha / Q.abs().mean() * Q.mean()`: a value that is divided by its own size, and gradient flows through the size as
well. Whatever makes the value larger makes its size larger, too: what is left does not depend on it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.flow import ADDITIVE, LINEAR, REDUCING, SHAPING
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ValueId

PLAIN = SHAPING | {"neg", "mul", "div", "rdiv", "reciprocal", "clamp", "add", "maximum"}
SIZES = {"norm", "std", "linalg_vector_norm", "vector_norm"}
FOLDING = {"mean", "sum", "amax", "max"}


class LivingSize(NamedTuple):
    product: Op
    size: Op
    value: Op  # what it is the size of


def living_sizes(graph: Provenance, live: dict[ValueId, Op]) -> Iterator[LivingSize]:
    for product in graph.named(live, {"mul", "div"}):
        sides = [side for side in graph.inputs(product) if side.live]
        if len(sides) != 2 or not _is_taken_as_it_is(graph, product, live):
            continue
        for value, size in (sides, sides[::-1]) if product.name == "mul" else (sides,):
            found = _size_in(graph, size) if math.prod(size.shape) == 1 else None
            if found is not None and _is_scaled(graph, value, found[1]):
                yield LivingSize(product, *found)


def _size_in(graph: Provenance, op: Op) -> tuple[Op, Op] | None:
    """The size that a factor was made of, and what it is the size of."""
    while op.name in PLAIN:
        given = [source for source in graph.inputs(op) if source.live]
        if len(given) != 1:
            return None
        op = given[0]
    given = [source for source in graph.inputs(op) if source.live]
    if op.name in FOLDING and len(given) == 1 and given[0].name == "abs":
        given = [source for source in graph.inputs(given[0]) if source.live]
    elif op.name not in SIZES:
        return None
    return (op, given[0]) if len(given) == 1 else None


def _is_scaled(graph: Provenance, op: Op, value: Op) -> bool:
    """Whether it is the value, averaged and scaled at most."""
    while op.nid != value.nid:
        given = [source for source in graph.inputs(op) if source.live]
        if op.name not in LINEAR or len(given) != 1:
            return False
        op = given[0]
    return True


def _is_taken_as_it_is(graph: Provenance, op: Op, live: dict[ValueId, Op]) -> bool:
    """Whether the loss is nothing but the average of it, beside other terms. What is compared with something, or goes
    into a network, may well be normalised."""
    onward = [live[nid] for nid in graph.consumers.get(op.nid, ()) if nid in live]
    while onward:
        if len(onward) != 1 or not _averages(graph, onward[0]):
            return False
        onward = [live[nid] for nid in graph.consumers.get(onward[0].nid, ()) if nid in live]
    return True


def _averages(graph: Provenance, op: Op) -> bool:
    numbers = all(source.live or math.prod(source.shape) == 1 for source in graph.inputs(op))
    return op.name in SHAPING | REDUCING | ADDITIVE or (op.name in ("mul", "div") and numbers)
