"""A clip that stands in the wrong place, covers the wrong parameters, or does nothing."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.fix.families.base import Case, Proposal


def before_step(case: Case) -> Iterator[Proposal]:
    clip = case.culprit
    steps = case.statements("step")
    if clip is None or not steps:
        return
    step = steps[-1]
    if step in case.source.beside(clip) and clip is not step:
        yield Proposal(case.change().move_before(clip, step), "clip between the backward and the step")
