"""`zero_grad` where it is missing, or stands in the wrong place."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.fix.families.base import Case, Proposal, call_of, method, receiver


def before_backward(case: Case) -> Iterator[Proposal]:
    """Before the first backward that feeds the step, in the step's own terms."""
    step = case.culprit
    call = call_of(step)
    if step is None or call is None or method(call) != "step":
        return
    clear = f"{receiver(case.source, call)}.zero_grad()"
    first = case.source.lines_of(step)[0]
    backwards = [s for s in case.statements("backward", "own backward") if case.source.lines_of(s)[0] < first]
    if backwards:
        yield Proposal(case.change().before(backwards[0], clear), "clear the gradients before the backward")
    yield Proposal(case.change().after(step, clear), "clear the gradients after the step")
