"""Which parameters a finding speaks of: only their gradients may differ with its repair."""

from __future__ import annotations

from gradsan.fix.lines import Moved
from gradsan.fix.trial import TrialRun
from gradsan.judge.findings import Finding, Location

MOST_SUBJECTS = 50  # a finding names no more: then it speaks of their networks
# A leak, or a gradient that is missing: the rule names exactly those it concerns, where it names any.
EXACT = ("GS2", "GS3")
# Here the subjects are what was read off an error or gets nothing at all, and all that the loss reaches is concerned.
WIDE = ("GS201", "GS202", "GS203", "GS208", "GS209", "GS210", "GS305", "GS306", "GS307")

# A target that follows makes all later losses others; the first one it does not, and `verdict` sees to that.
TARGETS = ("GS306", "GS307", "GS809")
# An optimizer takes what nobody took before; it may have had no name until now.
NEWLY_OWNED = ("GS205", "GS206")
# A clip, a loss scale: what is stepped together is clipped together, and only the first one may be named.
TOGETHER = ("GS5",)


def parameters(finding: Finding, before: TrialRun, after: TrialRun, moved: Moved) -> _ParameterNames:
    subjects = set(finding.subjects)
    exact = finding.rule.startswith(EXACT) and finding.rule not in WIDE and bool(subjects)
    names = set(subjects)
    if not exact:
        names |= at_its_lines(finding, before) | at_its_lines(moved.finding(finding), after)
        if finding.rule.startswith(TOGETHER):
            names |= {n for step in before.steps if names & step.taken.keys() for n in step.taken}
        if not names:  # the lines of the story lie elsewhere: what it concerns is all that is trained
            names = {name for run in (before, after) for step in run.steps for name in step.taken}
    if finding.rule in TARGETS:
        names |= {name for run in (before, after) for step in run.steps for name in step.taken}
    if finding.rule in NEWLY_OWNED:
        known = {name for step in before.steps for name in step.taken}
        names |= {name for step in after.steps for name in step.taken if name not in known}
    return _ParameterNames(names, networks=len(subjects) >= MOST_SUBJECTS)


def at_its_lines(finding: Finding, run: TrialRun) -> set[str]:
    where = [site.location for site in finding.sites]
    if finding.culprit is not None:
        where.append(finding.culprit)
    return {name for location in where for name in run.lines.get(_line(location), ())}


def _line(location: Location) -> str:
    return f"{location.file}:{location.line}"


class _ParameterNames:
    def __init__(self, names: set[str], networks: bool) -> None:
        self._names = names
        self._networks = {name.partition(".")[0] for name in names} if networks else set()

    def __contains__(self, name: str) -> bool:
        return name in self._names or name.partition(".")[0] in self._networks
