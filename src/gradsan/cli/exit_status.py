"""What a command's exit status is, and why. The same words are in the report (`exit`)."""

from __future__ import annotations

from gradsan.cli.options import fails
from gradsan.judge.report.findings import Exit, Report

NOT_WATCHED = 3


def decide(report: Report, fail_on: str, finding: int = 1, script: int = 0, written: bool = False) -> Exit:
    """A finding comes first, unless it was just written down as known; then the script's own failure; then that
    nothing was watched."""
    if fails(report, fail_on, written):
        return Exit(finding, "finding")
    if script:
        return Exit(script, "script")
    return Exit(0, "clean") if report.watched else Exit(NOT_WATCHED, "not watched")
