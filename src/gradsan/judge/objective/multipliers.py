"""Multipliers that are learnt: `weight * cost` in the loss of a network, and `-log_weight * (cost - limit)` for the
weight, which has to grow where the cost is above its limit. Both may get the other as a plain number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.flow import REDUCING, SHAPING, TAKEN_OUT, first_scalar, unshaped
from gradsan.judge.objective.score_functions import sign_of_step
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ParamId, Site, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History

RISING = {"exp", "softplus", "sigmoid", "relu"} | TAKEN_OUT | SHAPING
FORM = SHAPING | REDUCING | TAKEN_OUT
NEAR = 400  # values between a number that left and the product that takes it
ROUND = 4  # digits of a limit that somebody has written down
EXACT = 1e-9


class Weighed(NamedTuple):
    """In `product`, this parameter weighs the cost made on a line (by an operation), with the sign of the loss."""

    pid: ParamId
    cost: tuple[Site, str]
    sign: int
    product: Op


def weighed_costs(history: History, root: Op) -> Iterator[Weighed]:
    """What a parameter of a single number weighs as a constant."""
    graph, stack, seen = history.graph, [(root, 1)], set[ValueId]()
    while stack:
        op, sign = stack.pop()
        if op.nid in seen or not op.live:
            continue
        seen.add(op.nid)
        sides = list(graph.inputs(op))
        if op.name in ("add", "sub") and len(sides) == 2:
            turned = -sign if op.name == "sub" else sign
            stack += [(sides[0], sign), (sides[1], turned)]
        elif op.name == "mul" and len(sides) == 2 and sides[0].live != sides[1].live:
            live, constant = sides if sides[0].live else sides[::-1]
            while live.name == "neg" and (source := next(graph.inputs(live), None)) is not None:
                live, sign = source, -sign
            if pid := _multiplier(history, constant):
                yield Weighed(pid, _cost(graph, live), sign, op)
        elif len(sides) == 1 and (step := sign_of_step(op)):
            stack.append((sides[0], sign * step))


def _multiplier(history: History, constant: Op) -> ParamId | None:
    """The one parameter that the constant is, as a positive number that grows with it."""
    graph, op = history.graph, constant
    while op.name in RISING and len(op.inputs) == 1 and (source := next(graph.inputs(op), None)) is not None:
        op = source
    single = op.kind == "parameter" and set(op.shape) <= {1}
    return op.facts.pid if single else None


def _cost(graph: Provenance, op: Op) -> tuple[Site, str]:
    base = unshaped(graph, op, FORM)
    return base.site, base.name


def learnt_by_number(history: History, root: Op) -> Weighed | None:
    """The loss of the multiplier itself: a product with how far a number that left torch is from a limit."""
    graph, op, sign = history.graph, root, 1
    while True:
        sides = list(graph.inputs(op))
        if op.name == "mul" and len(sides) == 1 and (left := _left_before(graph, op)) is not None:
            departure, slope = left
            pid, own = _parameter(graph, sides[0])
            cost = next(graph.inputs(departure), departure)
            return Weighed(pid, _cost(graph, cost), sign * own * slope, op) if pid and own else None
        if len(sides) != 1 or not (step := sign_of_step(op)):
            return None
        op, sign = sides[0], sign * step


def _parameter(graph: Provenance, op: Op) -> tuple[ParamId | None, int]:
    sign = 1
    while op.kind != "parameter":
        step = 1 if op.name in RISING else sign_of_step(op)
        source = next(graph.inputs(op), None) if step and len(op.inputs) == 1 else None
        if source is None:
            return None, 0
        op, sign = source, sign * step
    return op.facts.pid, sign


def _left_before(graph: Provenance, op: Op) -> tuple[Op, int] | None:
    """A number that left not long before, of which this factor is the distance to a round one; and whether it grows
    with that number."""
    factor = first_scalar(op)
    for nid in range(op.nid - 1, max(0, op.nid - NEAR), -1):
        other = graph.get(ValueId(nid))
        if other is None or len(other.facts.numbers) != 1 or not other.inputs:
            continue
        left = other.facts.numbers[0]
        for slope in (1, -1):
            if _is_round(factor - slope * left) and not _is_round(left):
                return other, slope
    return None


def _is_round(number: float) -> bool:
    return number != 0.0 and abs(number - round(number, ROUND)) <= EXACT * abs(number)
