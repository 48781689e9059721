"""The one place where the course meets the sanitizer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import gradsan
from gradsan.learn.verdict import Note


class CannotWatch(Exception):
    """The sanitizer could not look. That is never the same as having found nothing."""


def watched(
    drive: Callable[[], None], file: Path, rules: Iterable[str]
) -> tuple[list[Note], BaseException | None]:
    """Run `drive` under the sanitizer: what it found, and the error that ended it, if one did.

    `rules` are the ones that the exercise is about: those it must not have been blind to.
    """
    raised: BaseException | None = None
    try:
        with gradsan.watch("deep") as report:
            drive()
    except (Exception, SystemExit) as error:
        raised = error
    notes = [_note(finding, file) for finding in report.findings if finding.severity != "info"]
    if not notes:
        _refuse_blindness(report, set(rules))
    return notes, raised


def _note(finding: gradsan.Finding, file: Path) -> Note:
    """The culprit, or the first site, that lies in the learner's file: the rest is not theirs to mend."""
    places = [finding.culprit, *(site.location for site in finding.sites)]
    lines = [
        place.line for place in places if place and os.path.realpath(place.file) == os.path.realpath(file)
    ]
    return Note(finding.rule, finding.name, lines[0] if lines else None, finding.message)


def _refuse_blindness(report: gradsan.WatchReport, rules: set[str]) -> None:
    if not report.watched:
        raise CannotWatch(report.snapshot().not_watched)
    for missed in report.not_evaluated:
        if missed["rule"] in rules:
            raise CannotWatch(f"{missed['rule']} was not evaluated, because {missed['reason']}")
    for fault in report.faults:
        raise CannotWatch(f"its {fault['tap']} tap failed: {fault['traceback'].strip().splitlines()[-1]}")
