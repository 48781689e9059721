"""The only place where training meets the sanitizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gradsan
from gradsan.rl.config import Sanitize


@contextmanager
def sanitized(mode: Sanitize, say: Callable[[str], None]) -> Iterator[list[Any]]:
    """Watches the gradients inside the block; the list holds the findings once it has ended."""
    findings: list[Any] = []
    watch = getattr(gradsan, "watch", None)
    if mode == "off" or watch is None:
        if mode != "off":
            say(
                "This installation has no gradsan.watch: training goes on, but its gradients are not watched."
            )
        yield findings
        return
    with watch(mode=mode) as report:
        yield findings
    findings.extend(report.findings)
    for finding in findings:
        say(f"{finding.rule} {finding.name}: {finding.message}")
