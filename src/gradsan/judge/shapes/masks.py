"""Masks over the tokens of padded sequences: what is averaged with them, and what they have no part in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.flow import REDUCING, SHAPING
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ValueId

LENGTHS = 2  # different ones, for zeros at the ends of the rows to be padding and no accident
BOUNDED = SHAPING | {"clamp", "add", "max", "maximum", "clamp_min", "long", "int", "item"}
CHOOSING = {"where", "masked_fill", "masked_select", "getitem", "index_put", "setitem", "masked_scatter"}
IGNORING = {"cross_entropy", "nll_loss"}  # labels that do not count
COMPARING = {
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "logical_and",
    "logical_or",
    "logical_not",
    "bitwise_not",
    "and",
    "or",
}


class Masked(NamedTuple):
    """`product`: a live value times a constant of the same form, `mask`."""

    product: Op
    mask: Op


def masked_in(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[Masked]:
    for op in within.values():
        if op.name == "mul" and op.facts.mask is not None:
            constant = next((source for source in graph.inputs(op) if not source.live), None)
            if constant is not None:
                yield Masked(op, constant)


def divides_by_its_sum(graph: Provenance, masked: Masked, within: dict[ValueId, Op]) -> Op | None:
    """`(x * m).sum() / m.sum()`: the division that makes a mean of it."""
    stack, seen = [masked.product], set[ValueId]()
    while stack:
        value = stack.pop()
        for nid in graph.consumers.get(value.nid, ()):
            user = within.get(nid)
            if user is None or nid in seen:
                continue
            seen.add(nid)
            if user.name == "div" and user.inputs[0] == value.nid and len(user.inputs) == 2:
                if _is_sum_of(graph, graph.get(user.inputs[1]), masked.mask):
                    return user
            elif user.name in REDUCING | SHAPING | {"neg"}:
                stack.append(user)
    return None


def _is_sum_of(graph: Provenance, op: Op | None, mask: Op) -> bool:
    while op is not None and op.name in BOUNDED and op.inputs:
        op = graph.get(op.inputs[0])
    if op is None or op.name != "sum":
        return False
    return bool(_behind(graph, mask) & _behind(graph, graph.get(op.inputs[0])))


def _behind(graph: Provenance, op: Op | None) -> set[ValueId]:
    """The value, under all the forms that it has had."""
    found = set[ValueId]()
    while op is not None:
        found.add(op.nid)
        op = graph.get(op.inputs[0]) if op.name in SHAPING and op.inputs else None
    return found


def running_count(graph: Provenance, mask: Op) -> Op | None:
    """Where it was counted along the rows what a comparison said: 1, 2, 3, … where a mask has ones."""
    op: Op | None = mask
    while op is not None and op.name in SHAPING and op.inputs:
        op = graph.get(op.inputs[0])
    if op is None or op.name != "cumsum" or op.live:
        return None
    counted = graph.get(op.inputs[0]) if op.inputs else None
    while counted is not None and counted.name in SHAPING | {"long", "int"} and counted.inputs:
        counted = graph.get(counted.inputs[0])
    return op if counted is not None and counted.name in COMPARING else None


# -- padding -----------------------------------------------------------------------------------------------


def is_padding(graph: Provenance, masked: Masked, within: dict[ValueId, Op]) -> bool:
    """Whether the zeros of a mask are where the tokens that were read in end in one and the same token."""
    fact = masked.product.facts.mask
    if fact is None or len(set(fact.tails)) <= LENGTHS or not (fact.low == 0.0 and fact.high == 1.0):
        return False
    read = (op.facts.mask for op in within.values() if op.name == "embedding")
    return any(_same_ends(fact.tails, tokens.tails) for tokens in read if tokens is not None)


def _same_ends(zeros: tuple[int, ...], pads: tuple[int, ...]) -> bool:
    """Row by row as many, but for the one that is cut off where the next token is predicted."""
    if len(zeros) != len(pads):
        return False
    pairs = [(z, p) for z, p in zip(zeros, pads, strict=True) if z > 1 or p > 1]
    return (
        len({p for _, p in pairs}) >= LENGTHS
        and len({z - p for z, p in pairs} - {0}) <= 1
        and all(abs(z - p) <= 1 for z, p in pairs)
    )


def reaches_unmasked(graph: Provenance, shape: tuple[int, ...], within: dict[ValueId, Op]) -> Iterator[Op]:
    """Sums and means over all places of values of this form that nobody has masked before."""
    known: dict[ValueId, bool] = {}
    for op in within.values():
        if op.name in ("sum", "mean") and op.live:
            source = next((s for s in graph.inputs(op) if s.live), None)
            if source is None or source.shape != shape or is_masked(graph, source, known):
                continue
            if not _is_weighed_by_place(graph, op, shape, within):
                yield op


def is_masked(graph: Provenance, op: Op, known: dict[ValueId, bool]) -> bool:
    """Whether every live way into this value has been masked: by a constant with zeros at the ends, or by a choice."""
    stack = [op]
    while stack:
        current = stack[-1]
        if current.nid in known:
            stack.pop()
            continue
        live = [source for source in graph.inputs(current) if source.live]
        if _masks(graph, current):
            known[current.nid] = True
        elif not live or current.shape[:2] != op.shape[:2]:
            known[current.nid] = False
        elif missing := [source for source in live if source.nid not in known]:
            stack += missing
            continue
        else:
            ways = (known[source.nid] for source in live)
            known[current.nid] = any(ways) if current.name == "mul" else all(ways)  # nought times anything
        stack.pop()
    return known[op.nid]


def _masks(graph: Provenance, op: Op) -> bool:
    if op.name == "mul" and op.facts.mask is not None:
        return any(op.facts.mask.tails)
    if op.name in IGNORING:
        return True
    others = [source for source in graph.inputs(op) if not source.live and len(source.shape) >= 2]
    return bool(others) and op.name in CHOOSING


def _is_weighed_by_place(
    graph: Provenance, op: Op, shape: tuple[int, ...], within: dict[ValueId, Op]
) -> bool:
    """A sum over the places of a row that is used place by place: not what is reduced here."""
    return any(
        (user := within.get(nid)) is not None and user.shape[:2] == shape[:2] and len(user.shape) >= 2
        for nid in graph.consumers.get(op.nid, ())
    )
