"""Importance ratios, and the surrogates made of them.

What is clipped on both sides of one, beside itself unclipped, is a ratio however it was written: a quotient of
probabilities, of exponentials, or of densities without their constants."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from gradsan.judge import flow
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ValueId

FLOOR = 1e-3  # `old + 1e-8`


class Parts(NamedTuple):
    """What a ratio compares: the operation that does so, what is learned, and what is constant."""

    op: Op
    live: Op
    constant: Op


def parts_of(graph: Provenance, measured: Op) -> Parts | None:
    """Of a quotient, or of what is clipped around one: the learned side above, a constant below."""
    op = measured
    if op.name == "clamp":
        op = flow.unshaped(graph, next(graph.inputs(op)), flow.SHAPING)
        if not _is_bounded(graph, op):
            return None
    if op.name == "exp":
        op = flow.unshaped(graph, next(graph.inputs(op)), flow.SHAPING | flow.REDUCING)
    if op.name not in ("sub", "div") or len(op.inputs) != 2:
        return None
    sides = list(graph.inputs(op))
    if len(sides) != 2 or not sides[0].live or sides[1].live or prod(sides[0].shape) != prod(sides[1].shape):
        return None
    return Parts(op, *compared(graph, op))


def compared(graph: Provenance, op: Op) -> list[Op]:
    """The sides of a difference; of a quotient what is compared, be it behind exponentials: `exp(new) / exp(old)`."""
    sides = list(graph.inputs(op))
    if op.name == "div" and len(sides) == 2:
        sides = [_without_floor(graph, side) for side in sides]
        if sides[0].name == sides[1].name == "exp":
            behind = [next(graph.inputs(side)) for side in sides]
            # What was exponentiated without gradients is a constant here, whatever it was made of.
            sides = behind if [o.live for o in behind] == [o.live for o in sides] else sides
    return sides


def _is_bounded(graph: Provenance, ratio: Op) -> bool:
    """Whether it is weighed as it is and as it is clipped, and one of both is taken: a surrogate. A value that is only
    limited is no ratio."""
    users = flow.users_through(graph, ratio, graph.ops, flow.SHAPING | {"mul", "neg", "clamp"})
    return any(user.name in flow.BOUNDING and clipped_ratio(graph, user) is not None for user in users)


def _without_floor(graph: Provenance, op: Op) -> Op:
    """What a small number was added to, lest it be divided by zero. A copy made without gradients is a constant,
    whatever it is a copy of."""
    plain = flow.unshaped(graph, op, flow.SHAPING)
    if plain.live != op.live:
        return op
    op = plain
    added = op.name == "add" and len(op.inputs) == 1 and abs(flow.first_scalar(op)) < FLOOR
    return next(graph.inputs(op), op) if added else op


def clipped_ratio(graph: Provenance, bound: Op) -> Op | None:
    """The ratio of a surrogate: of the two values that the bound is taken of, made with the same ratio, one has it
    clipped."""
    sides = [graph.live_ancestors([i.nid]) for i in graph.inputs(bound) if i.live]
    if len(sides) != 2:
        return None
    shared = [o for nid, o in sides[0].items() if nid in sides[1] and o.name in ("exp", "div")]
    newest = max((o.nid for o in shared), default=0)
    clipped = [any(o.name == "clamp" and o.nid > newest for o in side.values()) for side in sides]
    return max(shared, key=lambda o: o.nid) if shared and clipped.count(True) == 1 else None


def sides_apart(graph: Provenance, bound: Op, ratio: Op) -> Op | None:
    """The side of a surrogate's bound on which a minus was lost: both weigh the ratio with the same, and one turns its
    sign."""
    ways = [way for i in graph.inputs(bound) if (way := _weighed(graph, i, ratio)) is not None]
    if len(ways) != 2 or ways[0][1] != ways[1][1] or ways[0][0] == ways[1][0]:
        return None
    return next(i for i, way in zip(graph.inputs(bound), ways, strict=True) if not way[0])


def _weighed(graph: Provenance, op: Op, ratio: Op) -> tuple[bool, frozenset[ValueId]] | None:
    """Whether the sign is turned between the ratio and this value, and what the ratio is multiplied with."""
    turned, weights = False, set[ValueId]()
    while op.nid != ratio.nid:
        live = [i for i in graph.inputs(op) if i.live]
        if len(live) != 1 or op.name not in ("neg", "mul", "clamp"):
            return None
        if op.name == "mul" and len(op.inputs) != 2:
            return None
        turned ^= op.name == "neg"
        for weight in (i for i in graph.inputs(op) if i.nid != live[0].nid):
            turned_too = weight.name == "neg" and len(weight.inputs) == 1
            turned ^= turned_too
            weights.add(weight.inputs[0] if turned_too else weight.nid)
        op = live[0]
    return turned, frozenset(weights)
