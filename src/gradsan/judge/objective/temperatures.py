"""What moves a temperature: a number that is learned, times how far the entropy of a policy is from its target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gradsan.judge.objective.expected_entropy import is_negative_entropy, is_probability
from gradsan.judge.objective.score_functions import sign_of_step
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ParamId, ValueId

RISING = {"exp", "softplus", "clamp", "relu", "sigmoid"}  # the temperature, made of what is learned


class Product(NamedTuple):
    """`op` multiplies the temperature with a `constant` made of log-probabilities, which enter the derivative with this
    sign; `weighed` by the probabilities of all actions."""

    op: Op
    sign: int
    constant: Op
    weighed: bool


def own_terms(graph: Provenance, roots: Iterable[ValueId]) -> Iterator[tuple[ValueId, int, ParamId]]:
    """The summands of a loss that train one parameter alone, which no other of them trains, with their signs."""
    terms = [
        term for root in roots if (op := graph.get(root)) is not None for term in _summands(graph, op, 1)
    ]
    learned = [(op.nid, sign, graph.live_params([op.nid])) for op, sign in terms]
    for nid, sign, own in learned:
        if len(own) == 1 and sum(bool(own & others) for _, _, others in learned) == 1:
            yield nid, sign, next(iter(own))


def _summands(graph: Provenance, op: Op, sign: int) -> Iterator[tuple[Op, int]]:
    sides = list(graph.inputs(op)) if op.name in ("add", "sub") and op.facts.alpha == 1.0 else []
    if len(sides) != 2 or not all(side.live for side in sides):
        yield op, sign
        return
    yield from _summands(graph, sides[0], sign)
    yield from _summands(graph, sides[1], -sign if op.name == "sub" else sign)


def product_with_score(graph: Provenance, root: ValueId) -> Product | None:
    """The product of the temperature and a constant made of log-probabilities, and the sign with which a
    log-probability enters the derivative by the temperature."""
    op, sign, weighed = graph.get(root), 1, False
    while op is not None:
        sides = list(graph.inputs(op))
        if op.name == "mul" and len(sides) == 2 and sides[0].live != sides[1].live:
            live, constant = sides if sides[0].live else sides[::-1]
            if is_probability(graph, constant):  # an expectation over all actions
                op, weighed = live, True
                continue
            parts = _sign_of_learned(graph, live) * _sign_of_score(graph, constant, weighed)
            return Product(op, sign * parts, constant, weighed) if parts else None
        if len(sides) != 1 or (step := sign_of_step(op)) == 0:
            return None
        op, sign = sides[0], sign * step
    return None


def _sign_of_learned(graph: Provenance, op: Op) -> int:
    sign = 1
    while op.kind != "parameter":
        sides = list(graph.inputs(op))
        step = 1 if op.name in RISING else sign_of_step(op)
        if len(sides) != 1 or not step:
            return 0
        op, sign = sides[0], sign * step
    return sign


def _sign_of_score(graph: Provenance, constant: Op, weighed: bool) -> int:
    """The one sign with which log-probabilities (an entropy: with the other) stand in this constant."""
    signs, seen = set[int](), set[ValueId]()
    stack = [(constant, 1)]
    while stack:
        op, sign = stack.pop()
        if op.nid in seen:
            continue
        seen.add(op.nid)
        if "log_prob" in op.tags or (weighed and op.name == "log_softmax"):
            signs.add(sign)
        elif "entropy" in op.tags:
            signs.add(-sign)
        elif is_negative_entropy(graph, op):
            signs.add(sign)
        elif op.name in ("sub", "add", "rsub"):
            for index, source in enumerate(graph.inputs(op)):
                turned = (op.name == "sub" and index == 1) or (op.name == "rsub" and index == 0)
                stack.append((source, -sign if turned else sign))
        elif step := sign_of_step(op):
            stack.extend((source, sign * step) for source in list(graph.inputs(op))[:1])
    return signs.pop() if len(signs) == 1 else 0
