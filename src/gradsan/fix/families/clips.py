"""A clip that stands in the wrong place, covers the wrong parameters, or does nothing."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.families.base import Case, Proposal, argument, call_of, method, only, receiver, value_of


def moved(case: Case) -> Iterator[Proposal]:
    """Between the backward and the step."""
    clip = case.culprit
    if clip is None:
        return
    beside = case.source.beside(clip)
    for step in reversed(case.statements("step")):
        if step in beside and step is not clip:
            yield Proposal(case.change().move_before(clip, step), "clip between the backward and the step")
    for backward in reversed(case.statements("backward")):
        if backward in beside and backward is not clip:
            yield Proposal(case.change().move_after(clip, backward), "clip right after the backward")


def stepped(case: Case) -> Iterator[Proposal]:
    """The parameters that the next step moves: what its optimizer owns."""
    clip = case.culprit
    call = call_of(clip)
    given = argument(call, 0, "parameters") if call is not None else None
    if clip is None or given is None:
        return
    for step in [*_next_steps(case, clip), *case.statements("step")]:
        found = call_of(step)
        owner = receiver(case.source, found)
        if method(found) != "step" or not owner:
            continue
        if found is not None and found.args and isinstance(found.args[0].value, cst.Name | cst.Attribute):
            owner = case.source.code(found.args[0].value)
        owned = f'[p for group in {owner}.param_groups for p in group["params"]]'
        yield Proposal(case.change().replace(given, owned), "clip the parameters that are stepped")


def in_place(case: Case) -> Iterator[Proposal]:
    """A clamp of `.grad` whose result is dropped."""
    statement = case.culprit
    given = value_of(only(statement))
    call = given if isinstance(given, cst.Call) else None
    if statement is None or call is None:
        return
    name = method(call)
    if (
        isinstance(only(statement), cst.Expr)
        and isinstance(call.func, cst.Attribute)
        and not name.endswith("_")
    ):
        if case.source.code(call.func.value) == "torch" and call.args:
            code = f"{case.source.code(call.args[0].value)}.copy_({case.source.code(call)})"
            yield Proposal(case.change().replace(call, code), "write the clipped values back")
        else:
            new = call.func.with_changes(attr=cst.Name(f"{name}_"))
            yield Proposal(case.change().turn(call.func, lambda _: new), "clip in place")
    elif isinstance(only(statement), cst.Assign) and (grad := _gradient_in(case, call)):
        code = f"{grad}.copy_({case.source.code(call)})"
        yield Proposal(case.change().replace(call, code), "write the clipped values back")


def unscaled(case: Case) -> Iterator[Proposal]:
    """The gradients are divided by the loss scale before they are clipped."""
    clip = case.culprit
    if clip is None:
        return
    for unscale in case.statements("unscale"):
        call = call_of(unscale)
        if method(call) == "unscale_" and unscale in case.source.beside(clip):
            yield Proposal(case.change().move_after(clip, unscale), "unscale before the clip")
        elif method(call) == "step" and call is not None and call.args:
            scaler, owner = receiver(case.source, call), case.source.code(call.args[0].value)
            yield Proposal(
                case.change().before(clip, f"{scaler}.unscale_({owner})"), "unscale before the clip"
            )


def _next_steps(case: Case, clip: cst.CSTNode) -> list[cst.CSTNode]:
    """The first step below the clip, in its block."""
    beside = case.source.beside(clip)
    below = beside[beside.index(clip) + 1 :] if clip in beside else []
    return [s for s in below if method(call_of(s)) == "step"][:1]


def _gradient_in(case: Case, call: cst.Call) -> str:
    grads = [n for n in case.source.inside(call, cst.Attribute) if n.attr.value == "grad"]
    return case.source.code(grads[0]) if grads else ""
