"""Expectations over all actions, `(probs * q).sum(-1)`, that are what the policy is to make large: there the values are
numbers. Gates and mixtures of experts are products of probabilities and values, too, and learn both sides; but nothing
else fits what they mix, or what they mix is a loss already."""

from __future__ import annotations

from gradsan.judge import flow
from gradsan.judge.provenance import Provenance
from gradsan.judge.residuals import LIBRARY_LOSSES
from gradsan.record.events import Op, ValueId

BENDING = {"pow", "square", *LIBRARY_LOSSES}
AS_IT_IS = flow.SHAPING | flow.SELECTING | {"neg"}
ON_THE_WAY = flow.SHAPING | flow.SELECTING | {"add", "sub", "rsub", "neg"}


def weighs_fitted_values(graph: Provenance, score: Op, weight: Op, within: dict[ValueId, Op]) -> bool:
    """Whether `score` are the probabilities of all actions, and `weight` is made of values, by sums, that another term
    of the same loss fits."""
    score = flow.unshaped(graph, score)
    if score.name != "softmax" or score.shape[-1:] != weight.shape[-1:]:
        return False
    values = [term.op for term in flow.terms(graph, weight) if term.op.live]
    return any(is_fitted(graph, value, within) for value in values)


def is_fitted(graph: Provenance, value: Op, within: dict[ValueId, Op]) -> bool:
    """Whether the loss learns this value: then it may be live, and only a use of it is wrong."""
    return any(user.name in BENDING for user in flow.users_through(graph, value, within, ON_THE_WAY))


def is_error(graph: Provenance, value: Op, within: dict[ValueId, Op]) -> bool:
    """Whether the loss makes this very value small, as it is or next to constants: an error that a critic learns from
    has to be live, and only another use of it is wrong."""
    return any(
        user.name in BENDING and sum(source.live for source in graph.inputs(user)) == 1
        for user in flow.users_through(graph, value, within, AS_IT_IS)
    )
