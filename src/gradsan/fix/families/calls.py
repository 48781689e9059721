"""Calls that want another argument, or to be another function."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.families.base import Case, Proposal, keyword, method, with_method


def not_reentrant(case: Case) -> Iterator[Proposal]:
    """A checkpoint that works without an input that requires grad."""
    statement = case.culprit
    for call in case.source.inside(statement, cst.Call) if statement is not None else ():
        if not method(call).startswith("checkpoint"):
            continue
        given = keyword(call, "use_reentrant")
        if given is not None:
            change = case.change().replace(given.value, "False")
        else:
            inner = case.source.code(call).rstrip()[:-1].rstrip().rstrip(",")
            change = case.change().replace(call, f"{inner}, use_reentrant=False)")
        yield Proposal(change, "checkpoint without reentrance")


def huber(case: Case) -> Iterator[Proposal]:
    """`x.clamp(-c, c).pow(2).mean()`: what is meant bends at c instead of going flat."""
    statement = case.culprit
    for call in case.source.inside(statement, cst.Call) if statement is not None else ():
        clamp = _squared_clamp(call)
        if clamp is None or not isinstance(clamp.func, cst.Attribute):
            continue
        function = case.source.code(clamp.func.value) == "torch"
        error = clamp.args[0].value if function else clamp.func.value
        bounds = [case.source.code(a.value) for a in clamp.args[1 if function else 0 :]]
        low, high = bounds if len(bounds) == 2 else ("", "")
        if _number(high) and _number(low) == -_number(high):
            code = case.source.code(error)
            bend = "" if _number(high) == 1 else f", delta={high}"
            name = "huber_loss" if bend else "smooth_l1_loss"
            new = f"torch.nn.functional.{name}({code}, torch.zeros_like({code}){bend})"
            yield Proposal(case.change().replace(call, new), "let large errors count linearly")


def clone_of_gradient(case: Case) -> Iterator[Proposal]:
    """A gradient that is put aside is put aside as a copy."""
    statement = case.culprit
    for node in case.source.inside(statement, cst.Attribute) if statement is not None else ():
        if node.attr.value == "grad":
            code = with_method(case.source, node, "clone()")
            yield Proposal(case.change().replace(node, code), "put a copy aside")


def _number(code: str) -> float:
    try:
        return float(code.replace(" ", ""))
    except ValueError:
        return 0.0


def _squared_clamp(call: cst.Call) -> cst.Call | None:
    """The clamp in `….clamp(…).pow(2).mean()`."""
    if method(call) != "mean" or not isinstance(call.func, cst.Attribute):
        return None
    square = call.func.value
    if method(square) not in ("pow", "square") or not isinstance(square, cst.Call):
        return None
    clamp = square.func.value if isinstance(square.func, cst.Attribute) else None
    return clamp if isinstance(clamp, cst.Call) and method(clamp) in ("clamp", "clip") else None
