"""Axes that meet by accident, log-probabilities and losses that were not reduced."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from gradsan.fix.families.base import Case, Proposal, call_of, method, only, value_of, with_method

ARITHMETIC = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide)
SHAPES = re.compile(r" of \[([\d, ]*)\] and \[([\d, ]*)\]")
REDUCTIONS = ("sum(-1)", "sum(-1, keepdim=True)")
LOSSES = ("mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss", "where", "min", "max", "minimum", "maximum")


def of_one_shape(case: Case) -> Iterator[Proposal]:
    """One of the two operands loses the axis that it has too many, or the other one gets it. The finding says what it
    would do, and which operand has the axis; where the line has several, each is tried, and the run tells."""
    fix = case.finding.fix
    is_column = ".unsqueeze(-1)" in fix and ".squeeze(-1)" not in fix
    ways = [_as_column, _squeezed] if is_column else [_squeezed, _as_column]
    longer = _longer(case.finding.message)
    for way in ways:
        side = longer if way is _squeezed else 1 - longer
        yield from way(case, side)


def _longer(message: str) -> int:
    """Which of the two operands has an axis more: the first (0) or the second one."""
    found = SHAPES.search(message)
    return int(found is not None and len(found[1].split(",")) < len(found[2].split(",")))


def _squeezed(case: Case, side: int) -> Iterator[Proposal]:
    for node in _operands(case, side):
        code = with_method(case.source, node, "squeeze(-1)")
        yield Proposal(case.change().replace(node, code), f"squeeze `{case.source.code(node)}`")


def _as_column(case: Case, side: int) -> Iterator[Proposal]:
    for node in _operands(case, side):
        code = with_method(case.source, node, "unsqueeze(-1)")
        yield Proposal(case.change().replace(node, code), f"make a column of `{case.source.code(node)}`")


def summed(case: Case) -> Iterator[Proposal]:
    """A log-probability per action dimension becomes one per action. The finding's own advice is tried first."""
    statement = case.culprit
    for call in case.source.inside(statement, cst.Call) if statement is not None else ():
        if method(call) in ("log_prob", "entropy"):
            whole = _summed_already(case, call) or call
            for reduction in sorted(REDUCTIONS, key=lambda way: f".{way}`" not in case.finding.fix):
                code = f"{case.source.code(call)}.{reduction}"
                yield Proposal(case.change().replace(whole, code), "sum over the action dimensions")


def _summed_already(case: Case, call: cst.Call) -> cst.Call | None:
    """`….sum(0)` around it: over the batch, and not over the action."""
    attribute = case.source.parent(call)
    outer = case.source.parent(attribute) if isinstance(attribute, cst.Attribute) else None
    return outer if isinstance(outer, cst.Call) and method(outer) == "sum" else None


def reduced(case: Case) -> Iterator[Proposal]:
    """A loss with an element per sample becomes a number."""
    value = value_of(only(case.culprit))
    if value is None or isinstance(only(case.culprit), cst.Expr):
        call = call_of(case.culprit)
        if method(call) == "backward" and call is not None and isinstance(call.func, cst.Attribute):
            owner = call.func.value
            code = with_method(case.source, owner, "mean()")
            yield Proposal(case.change().replace(owner, code), "average the loss")
        return
    code = with_method(case.source, value, "mean()")
    yield Proposal(case.change().replace(value, code), "average the loss")


def _operands(case: Case, side: int) -> Sequence[cst.BaseExpression]:
    """What the arithmetic of the culprit is made of: innermost operands, each once, those on this side first."""
    statement = case.culprit
    if statement is None:
        return []
    found: list[cst.BaseExpression] = []
    for node in case.source.inside(statement, (cst.BinaryOperation, cst.Call)):
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, ARITHMETIC):
            found += [node.left, node.right]
        elif isinstance(node, cst.Call) and method(node) in (*LOSSES, "log_prob"):
            found += [arg.value for arg in node.args if arg.keyword is None][:2]
    ordered = [*found[side::2], *found[1 - side :: 2]]
    single = [n for n in ordered if isinstance(n, cst.Name | cst.Attribute | cst.Call | cst.Subscript)]
    return list({case.source.code(n): n for n in reversed(single)}.values())[::-1]
