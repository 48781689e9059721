"""A choice that gradient should flow through: `rsample`, or a straight-through estimate."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.families.base import Case, Proposal, method

ONE_HOT = "OneHotCategorical"


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
        func = call.func.with_changes(attr=cst.Name("rsample"))
        yield Proposal(case.change().turn(call.func, lambda _, new=func: new), "sample with `rsample`")  # type: ignore[misc]
        if isinstance(made, cst.Name | cst.Attribute):
            dist = case.source.code(made)
            new = f"({case.source.code(call)} + {dist}.probs - {dist}.probs.detach())"
            up = case.source.parent(call)
            if isinstance(up, cst.Assign | cst.Return):
                new = new[1:-1]
            yield Proposal(case.change().replace(call, new), "choose with a straight-through gradient")
