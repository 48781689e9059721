"""A choice that gradient should flow through: `rsample`, or a straight-through estimate."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.families.base import Case, Proposal, method, only, writes_to

ONE_HOT = "OneHotCategorical"
WITHOUT = (
    ONE_HOT,
    "Categorical",
    "Bernoulli",
    "Binomial",
    "Multinomial",
    "Geometric",
    "NegativeBinomial",
    "Poisson",
)  # of torch.distributions, those that have no `rsample`


def reparameterised(case: Case) -> Iterator[Proposal]:
    statement = case.culprit
    if statement is None:
        return
    for call in case.source.inside(statement, cst.Call):
        if method(call) != "sample" or not isinstance(call.func, cst.Attribute):
            continue
        made = call.func.value
        if isinstance(made, cst.Call) and method(made) == ONE_HOT:
            args = case.source.code(made).partition("(")[2]
            new = f"torch.distributions.{ONE_HOT}StraightThrough({args}.rsample()"
            yield Proposal(case.change().replace(call, new), "choose with a straight-through gradient")
            continue
        if not _makers(case, made) & {*WITHOUT}:
            func = call.func.with_changes(attr=cst.Name("rsample"))
            yield Proposal(case.change().turn(call.func, lambda _, new=func: new), "sample with `rsample`")  # type: ignore[misc]
        if isinstance(made, cst.Name | cst.Attribute):
            dist = case.source.code(made)
            new = f"({case.source.code(call)} + {dist}.probs - {dist}.probs.detach())"
            up = case.source.parent(call)
            if isinstance(up, cst.Assign | cst.Return):
                new = new[1:-1]
            yield Proposal(case.change().replace(call, new), "choose with a straight-through gradient")


def _makers(case: Case, made: cst.BaseExpression) -> set[str]:
    """What the distribution is made by, where it stands here or is bound to its name in the same function."""
    if isinstance(made, cst.Call):
        return {method(made)}
    assert case.culprit is not None
    around, name = case.source.function(case.culprit), case.source.code(made)
    found = set()
    for statement in case.source.inside(around, cst.SimpleStatementLine):
        if name in map(case.source.code, writes_to(statement)) and isinstance(
            small := only(statement), cst.Assign
        ):
            found.add(method(small.value))
    return found
