"""An objective or an entropy term with the wrong sign."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.families.base import ATOMS, Case, Proposal, method, only, value_of

FLIPPED = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}


def objective(case: Case) -> Iterator[Proposal]:
    """The whole loss, one summand of it, or the pessimistic side of a bound."""
    statement = case.culprit
    value = value_of(only(statement))
    if statement is None or value is None or isinstance(only(statement), cst.Expr):
        return
    bounds = [c for c in case.source.inside(value, cst.Call) if method(c) in FLIPPED and len(c.args) == 2]
    for call in bounds:
        if all(_is_negative(arg.value) for arg in call.args) and isinstance(call.func, cst.Attribute):
            new = call.func.with_changes(attr=cst.Name(FLIPPED[method(call)]))
            yield Proposal(case.change().turn(call.func, lambda _, n=new: n), "take the pessimistic side")  # type: ignore[misc]
    if not isinstance(value, cst.BinaryOperation):
        yield Proposal(case.change().replace(value, _negated(case, value)), "turn the sign round")
    yield from _summands(case, value)


def entropy(case: Case) -> Iterator[Proposal]:
    """The sign of one summand; the last ones first, for that is where a bonus stands."""
    value = value_of(only(case.culprit))
    if value is None:
        return
    yield from _summands(case, value)
    if not isinstance(value, cst.BinaryOperation):
        yield Proposal(case.change().replace(value, _negated(case, value)), "turn the sign round")


def _summands(case: Case, value: cst.BaseExpression) -> Iterator[Proposal]:
    sums = [
        n
        for n in case.source.inside(value, cst.BinaryOperation)
        if isinstance(n.operator, cst.Add | cst.Subtract)
    ]
    for node in sums:
        sign = cst.Subtract() if isinstance(node.operator, cst.Add) else cst.Add()
        new = sign.with_changes(
            whitespace_before=node.operator.whitespace_before, whitespace_after=node.operator.whitespace_after
        )
        what = f"turn the sign of `{case.source.code(node.right)}` round"
        yield Proposal(case.change().turn(node.operator, lambda _, n=new: n), what)  # type: ignore[misc]


def _negated(case: Case, value: cst.BaseExpression) -> str:
    code = case.source.code(value)
    if isinstance(value, cst.UnaryOperation) and isinstance(value.operator, cst.Minus):
        return case.source.code(value.expression)
    return f"-{code}" if isinstance(value, ATOMS) or value.lpar else f"-({code})"


def _is_negative(value: cst.BaseExpression) -> bool:
    while isinstance(value, cst.BinaryOperation):
        value = value.left
    return isinstance(value, cst.UnaryOperation) and isinstance(value.operator, cst.Minus)
