"""How much one element of a sum counts in a loss: the factors between the loss and the place where it is summed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.flow import SHAPING
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, Site

DEEP = 64  # operations between a loss and its sums
DIFFERENT = 1.02  # times: below that it is rounding
SUMMED_LOSSES = {"cross_entropy", "nll_loss"}


class Divisor(NamedTuple):
    """`inverse`: written as a product with one n-th."""

    number: float
    site: Site
    inverse: bool = False


class Share(NamedTuple):
    """One sum inside a loss. `weight`: of each of its elements. `shape`: of what is summed; `masked`: only a part of
    that is, chosen by a mask or an ignored index."""

    site: Site
    weight: float
    divisors: tuple[Divisor, ...]
    shape: tuple[int, ...]
    masked: bool = False


def shares(graph: Provenance, root: Op) -> Iterator[Share]:
    stack: list[tuple[Op, float, tuple[Divisor, ...]]] = [(root, 1.0, ())]
    for _ in range(DEEP):
        if not stack:
            return
        op, weight, divisors = stack.pop()
        live = [source for source in graph.inputs(op) if source.live]
        if op.name in ("mul", "div") and len(live) == 1:
            taken_in = scaled(op, weight, divisors)
            if taken_in is not None:
                stack.append((live[0], *taken_in))
        elif op.name in ("add", "sub", "rsub", "neg") or op.name in SHAPING:
            stack.extend((source, weight, divisors) for source in live)
        elif math.prod(op.shape) == 1 and live:
            share = _share(graph, op, live[0], weight, divisors)
            if share is not None:
                yield share


def scaled(op: Op, weight: float, divisors: tuple[Divisor, ...]) -> tuple[float, tuple[Divisor, ...]] | None:
    """With this product or quotient taken in; None where the other operand is not a single number."""
    number = op.facts.operand or (op.facts.scalars[0] if len(op.facts.scalars) == 1 else 0.0)
    if not number:
        return None
    if op.name == "mul":
        part = not op.facts.operand and 0.0 < number < 1.0
        found = (Divisor(1.0 / number, op.site, True),) if part else ()
        return weight * number, divisors + found
    return weight / number, (*divisors, Divisor(number, op.site))


def _share(
    graph: Provenance, op: Op, source: Op, weight: float, divisors: tuple[Divisor, ...]
) -> Share | None:
    if op.name == "sum":
        while source.name in ("mul", "div"):  # scaled before it was summed
            live = [s for s in graph.inputs(source) if s.live]
            taken_in = scaled(source, weight, divisors)
            if len(live) != 1 or taken_in is None:
                break
            weight, divisors = taken_in
            source = live[0]
        return Share(op.site, weight, divisors, source.shape)
    if op.name == "mean" and (chosen := _chosen_from(graph, source)) is not None:
        count = math.prod(source.shape)
        return _divided(op, weight, divisors, count, chosen, count < math.prod(chosen))
    if op.name in SUMMED_LOSSES and len(op.inputs) == 2:  # else it has weights, and is no plain mean
        targets = graph.get(op.inputs[1])
        shape = targets.shape if targets is not None else source.shape[:1]
        if op.facts.valid < 0:
            return Share(op.site, weight, divisors, shape)
        return _divided(op, weight, divisors, op.facts.valid or math.prod(shape), shape, op.facts.valid > 0)
    return None


def _divided(
    op: Op, weight: float, divisors: tuple[Divisor, ...], count: int, shape: tuple[int, ...], masked: bool
) -> Share:
    return Share(op.site, weight / max(1, count), (*divisors, Divisor(float(count), op.site)), shape, masked)


def _chosen_from(graph: Provenance, op: Op) -> tuple[int, ...] | None:
    """The shape of what `x[mask]` or `masked_select` chose from."""
    inputs = list(graph.inputs(op))
    if op.name not in ("getitem", "masked_select") or len(inputs) != 2 or inputs[1].floating:
        return None
    of, mask = inputs
    fits = mask.shape == of.shape and len(op.shape) == 1
    return of.shape if fits else None


def differing(window: list[Share]) -> Divisor | None:
    """A count that each of them has its own of."""
    for at, divisor in enumerate(window[0].divisors):
        same_line = [
            s.divisors[at] for s in window if len(s.divisors) > at and s.divisors[at].site == divisor.site
        ]
        numbers = [d.number for d in same_line if not d.inverse]
        if len(numbers) == len(window) and all(map(is_count, numbers)) and not are_equal(numbers):
            return divisor
    return None


def is_count(number: float) -> bool:
    return number >= 1.0 and abs(number - round(number)) < 1e-3


def are_equal(numbers: list[float]) -> bool:
    sizes = sorted(map(abs, numbers))
    return not sizes[0] or sizes[-1] / sizes[0] < DIFFERENT


def is_plain_mean(window: list[Share]) -> bool:
    """Over all elements of different shapes, or per sequence: nothing was masked, and the shapes are the design."""
    if any(s.masked for s in window):
        return False
    if len({s.shape for s in window}) == 1 or len({len(s.shape) for s in window}) > 1:
        return False
    sizes = [(math.prod(s.shape), *s.shape) for s in window]
    return any(
        are_equal([s.weight * size for s, size in zip(window, way, strict=True)])
        for way in zip(*sizes, strict=True)
    )
