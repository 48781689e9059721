"""The entropy that a temperature's loss aims at: `alpha * (log p + target)`, `alpha * (entropy - target)`.

Where choices are among a number of actions, no entropy is below zero: a target that is can never be reached, and the
temperature falls whatever the policy does (the target of a continuous policy, or one with its sign lost)."""

from __future__ import annotations

from typing import NamedTuple

from gradsan.judge.flow import REDUCING, SHAPING, TAKEN_OUT
from gradsan.judge.history import History
from gradsan.judge.objective.expected_entropy import is_negative_entropy, is_probability
from gradsan.record.events import NOWHERE, Op, Site, ValueId

NORMALISED = {"softmax", "log_softmax", "logsumexp"}
BETWEEN = (
    SHAPING | REDUCING | TAKEN_OUT | {"gather", "getitem", "sub", "mul", "neg", "exp", "log", "clamp", "add"}
)


class EntropyTarget(NamedTuple):
    """`added` puts it beside the log-probabilities or the entropy."""

    entropy: float
    added: Site


def target_in(history: History, constant: Op, weighed: bool) -> EntropyTarget | None:
    """That of what a temperature is multiplied with, where the policy is known to choose among actions. `weighed`: by
    the probabilities of all actions, elsewhere in the loss."""
    graph, op, slope, offset, added = history.graph, constant, 1.0, 0.0, NOWHERE
    while not _is_score(history, op, weighed):
        sides = list(graph.inputs(op))
        policies = [is_probability(graph, side) for side in sides] if op.name == "mul" else []
        if len(sides) == 2 and sum(policies) == 1:  # the sum of probabilities is one
            op, weighed = sides[policies.index(False)], True
            continue
        if len(sides) != 1:
            return None
        number = op.facts.scalars[0] * op.facts.alpha if op.facts.scalars else 0.0
        if op.name in ("add", "sub", "rsub") and number:
            offset += slope * (-number if op.name == "sub" else number)
            added = op.site
        if not (step := _factor(op, number)):
            return None
        slope, op = slope * step, sides[0]
    if not added or not slope or not _chooses(history, op):
        return None
    return EntropyTarget(-offset / slope if "entropy" in op.tags else offset / slope, added)


def _is_score(history: History, op: Op, weighed: bool) -> bool:
    marked = "log_prob" in op.tags or "entropy" in op.tags
    return marked or is_negative_entropy(history.graph, op) or (weighed and op.name in ("log_softmax", "log"))


def _factor(op: Op, number: float) -> float:
    """What the value behind an operation with one input is multiplied with; 0 where that is not known."""
    if op.name in SHAPING | REDUCING | TAKEN_OUT | {"add", "sub"}:
        return 1.0
    if op.name in ("neg", "rsub"):
        return -1.0
    return number if op.name == "mul" else 1.0 / number if op.name == "div" and number else 0.0


def _chooses(history: History, score: Op) -> bool:
    """Whether probabilities that add up to one are all that it is made of, up to the layer before them."""
    graph, stack, seen, found = history.graph, [score], set[ValueId](), False
    while stack:
        op = stack.pop()
        if op.nid in seen or not op.floating:
            continue
        seen.add(op.nid)
        if op.name in NORMALISED:
            found = True
        elif op.name in BETWEEN:
            stack.extend(graph.inputs(op))
        elif not any(i.kind == "parameter" for i in graph.inputs(op)):
            return False
    return found
