"""The one place where the course meets the sanitizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradsan
from gradsan.learn.verdict import Note


class Blind(Exception):
    """The sanitizer could not look. That is never the same as having found nothing."""


def watched(drive: Callable[[], None]) -> tuple[list[Note], Exception | None]:
    """Run `drive` under the sanitizer: what it found, and the error that ended it, if one did."""
    watch = getattr(gradsan, "watch", None)
    if watch is None:
        raise Blind("this installation of gradsan has no sanitizer")
    raised: Exception | None = None
    with watch(mode="deep") as report:
        try:
            drive()
        except Exception as error:
            raised = error
    return [_note(finding) for finding in report.findings if finding.severity != "info"], raised


def _note(finding: Any) -> Note:
    line = finding.culprit.line if finding.culprit else None
    return Note(finding.rule, finding.name, line, finding.message, finding.fix)
