"""In-place writes on what backward needs: the functional form, or a copy."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.families.base import Case, Proposal, call_of, keyword, method, only

# They overwrite all of a tensor, and what has the same name without the underscore is something else or nothing.
FILLING = (
    "normal_",
    "uniform_",
    "exponential_",
    "bernoulli_",
    "random_",
    "cauchy_",
    "log_normal_",
    "geometric_",
)
NO_FORM = ("copy_", "fill_", "zero_")
OPERATORS = {
    cst.AddAssign: "+", cst.SubtractAssign: "-", cst.MultiplyAssign: "*", cst.DivideAssign: "/",
    cst.PowerAssign: "**", cst.MatrixMultiplyAssign: "@", cst.FloorDivideAssign: "//", cst.ModuloAssign: "%",
}  # fmt: skip


def functional(case: Case) -> Iterator[Proposal]:
    for statement in dict.fromkeys([case.culprit, *case.statements("mutation")]):
        small = only(statement)
        if statement is None or small is None:
            continue
        if isinstance(small, cst.AugAssign):
            yield from _augmented(case, small)
        elif isinstance(small, cst.Assign) and isinstance(target := small.targets[0].target, cst.Subscript):
            owner = case.source.code(target.value)
            yield Proposal(case.change().before(statement, f"{owner} = {owner}.clone()"), "write to a copy")
        elif (call := call_of(statement)) is not None and isinstance(small, cst.Expr):
            yield from _given_out(case, small, call)
            yield from _method(case, small, call)


def copied(case: Case) -> Iterator[Proposal]:
    """An array that somebody else goes on writing to is copied when it becomes a tensor."""
    statement = case.culprit
    for call in case.source.inside(statement, cst.Call) if statement is not None else ():
        if method(call) in ("from_numpy", "as_tensor", "asarray") and call.args:
            given = call.args[0].value
            code = case.source.code(given)
            if isinstance(given, cst.Name | cst.Attribute | cst.Subscript):
                yield Proposal(case.change().replace(given, f"{code}.copy()"), "copy the array")


def _augmented(case: Case, small: cst.AugAssign) -> Iterator[Proposal]:
    sign = OPERATORS.get(type(small.operator))
    if sign is None or isinstance(small.target, cst.Subscript):
        return
    target, value = case.source.code(small.target), small.value
    code = case.source.code(value)
    if isinstance(value, cst.BinaryOperation | cst.IfExp | cst.Lambda | cst.Comparison) and not value.lpar:
        code = f"({code})"
    new = case.source.new_statement(f"{target} = {target} {sign} {code}").body[0]
    yield Proposal(case.change().turn(small, lambda _: new), "compute a new tensor")


def _given_out(case: Case, small: cst.Expr, call: cst.Call) -> Iterator[Proposal]:
    """`torch.add(a, b, out=x)` → `x = torch.add(a, b)`."""
    out = keyword(call, "out")
    if out is None or not isinstance(out.value, cst.Name | cst.Attribute):
        return
    kept = [arg for arg in call.args if arg is not out]
    kept = [*kept[:-1], kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)] if kept else []
    code = f"{case.source.code(out.value)} = {case.source.code(call.with_changes(args=kept))}"
    new = case.source.new_statement(code).body[0]
    yield Proposal(case.change().turn(small, lambda _: new), "compute a new tensor")


def _method(case: Case, small: cst.Expr, call: cst.Call) -> Iterator[Proposal]:
    name = method(call)
    if (
        not isinstance(call.func, cst.Attribute)
        or not name.endswith("_")
        or name.endswith("__")
        or name in NO_FORM
    ):
        return
    owner = call.func.value
    if not isinstance(owner, cst.Name | cst.Attribute):
        return
    target = case.source.code(owner)
    args = case.source.code(call)[len(case.source.code(call.func)) :]
    form = f"clone().{name}" if name in FILLING else name[:-1]
    new = case.source.new_statement(f"{target} = {target}.{form}{args}").body[0]
    yield Proposal(case.change().turn(small, lambda _: new), "compute a new tensor")
