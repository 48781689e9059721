"""The only place where training meets the sanitizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import gradsan
from gradsan.rl.config import Sanitize


@contextmanager
def sanitized(mode: Sanitize, say: Callable[[str], None]) -> Iterator[list[gradsan.Finding]]:
    """Watches the gradients inside the block: findings are said as they are made, and listed at its end."""
    findings: list[gradsan.Finding] = []
    if mode == "off":
        yield findings
        return

    def found(finding: gradsan.Finding) -> None:
        message = finding.message.replace("--mode deep", "--sanitize deep")  # what it is called here
        where = "" if finding.culprit is None else f" at {finding.culprit.file}:{finding.culprit.line}"
        say(f"{finding.severity} {finding.rule} {finding.name}{where}: {message}")

    with gradsan.watch(mode, on_finding=found) as report:
        yield findings
    findings.extend(report.findings)
    if not report.watched:
        say(f"nothing was watched: {report.not_watched}")
