"""Tries the repairs that a report is going to show, so that it shows the one that `gradsan fix` would offer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gradsan.fix.lines import key
from gradsan.fix.mending import Mending
from gradsan.fix.trial import Trials
from gradsan.judge.report.findings import Finding


def verify(findings: Sequence[Finding], trials: Trials, tell: Callable[[str], None]) -> str:
    """Why nothing could be tried, if so. Each finding is repaired by itself, on top of the program as it is: that is
    what a reader who takes one of the repairs gets."""
    mending = Mending(trials, None, tell, None, [finding.as_dict() for finding in findings])
    run = mending.first()
    if run.failure or run.unwatched:
        return run.failure or run.unwatched
    for outcome in mending.mend(run, lambda _: False):
        for finding in findings:
            if key(finding) == key(outcome.finding):
                finding.tried = True
                finding.repair = outcome.repair if outcome.verified else None
                finding.evidence = outcome.verdict.because if outcome.verdict is not None else ""
    return ""
