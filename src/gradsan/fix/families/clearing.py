"""`zero_grad` where it is missing, or stands in the wrong place."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.families.base import Case, Proposal, call_of, method, receiver


def before_backward(case: Case) -> Iterator[Proposal]:
    """Before the first backward that feeds the step, in the step's own terms."""
    for step in dict.fromkeys([case.culprit, *case.statements("step")]):
        clear = _clearing(case, step)
        if step is None or not clear:
            continue
        first = case.source.lines_of(step)[0]
        backwards = [
            s for s in case.statements("backward", "own backward") if case.source.lines_of(s)[0] < first
        ]
        for backward in backwards[:1]:
            yield Proposal(case.change().before(backward, clear), "clear the gradients before the backward")
        yield Proposal(case.change().after(step, clear), "clear the gradients after the step")


def moved(case: Case) -> Iterator[Proposal]:
    """A clearing between backward and step goes to where the gradients are new: before the backward, before the loop
    that accumulates them, or behind the step."""
    clear = case.culprit
    if clear is None:
        return
    beside = case.source.beside(clear)
    for backward in case.statements("backward"):
        if backward in beside and backward is not clear:
            yield Proposal(
                case.change().move_before(clear, backward), "clear the gradients before the backward"
            )
    loop = _loop_around(case, clear)
    if loop is not None and call_of(clear) is not None:
        code = case.source.code(clear).strip()
        if len(beside) > 1:
            change = case.change().before(loop, code.partition("#")[0].strip()).remove(clear)
            yield Proposal(change, "clear the gradients before the loop")
    for step in case.statements("step"):
        if step in beside:
            yield Proposal(case.change().move_after(clear, step), "clear the gradients after the step")


def _clearing(case: Case, step: cst.SimpleStatementLine | None) -> str:
    call = call_of(step)
    if call is None or method(call) != "step":
        return ""
    owner = receiver(case.source, call)
    if call.args and isinstance(call.args[0].value, cst.Name | cst.Attribute):  # `scaler.step(optimizer)`
        owner = case.source.code(call.args[0].value)
    return f"{owner}.zero_grad()"


def _loop_around(case: Case, statement: cst.CSTNode) -> cst.CSTNode | None:
    for up in case.source.above(statement):
        if isinstance(up, cst.FunctionDef | cst.ClassDef):
            return None
        if isinstance(up, cst.For | cst.While):
            return up
    return None
