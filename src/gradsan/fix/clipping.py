"""Clips of a norm couple parameters: where one gradient of those that are clipped together differs, all get another
length, and none another direction."""

from __future__ import annotations

from collections.abc import Set

from gradsan.fix.gradients import GradientComparison
from gradsan.fix.speaks_of import CLIPS
from gradsan.fix.trial import TrialRun
from gradsan.judge.report.findings import Finding

NORM = "norm"


def only_shortened(name: str, seen: GradientComparison, rightly: Set[str], *runs: TrialRun) -> bool:
    """Whether it differs because it is clipped together with what rightly differs, and for no other reason."""
    if name in seen.turned:
        return False
    groups = (clip.clipped for run in runs for clip in run.clips if clip.how == NORM)
    return any(name in group and not rightly.isdisjoint(group) for group in groups)


def turned_by_a_clip(finding: Finding, seen: GradientComparison, before: TrialRun) -> str:
    """A parameter whose gradient a repair of a clip by norm has given another direction, if there is one."""
    where = {f"{at.file}:{at.line}" for at in (finding.culprit, *(s.location for s in finding.sites)) if at}
    by_norm = any(clip.how == NORM and clip.line in where for clip in before.clips)
    return next(iter(seen.turned), "") if finding.rule in CLIPS and by_norm else ""
