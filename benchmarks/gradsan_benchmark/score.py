"""What a tool said about a case, against what would be right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradsan_benchmark.sarif import Finding

EXACT, LINE, SITE, ELSEWHERE, SILENT = "code and line", "line", "site", "elsewhere", "silent"
OUTCOMES = (EXACT, LINE, SITE, ELSEWHERE, SILENT)
RIGHT_LINE = (EXACT, LINE)


def new(findings: Iterable[Finding], before: Iterable[Finding]) -> list[Finding]:
    """Those that the tool does not say about the original, too."""
    known = {(f.rule, f.file, f.line) for f in before}
    return [f for f in findings if (f.rule, f.file, f.line) not in known]


def outcome(findings: list[Finding], file: str, lines: Iterable[int], codes: Iterable[str]) -> str:
    """The best that can be said for these findings."""
    right, codes = {(file, line) for line in lines}, set(codes)
    on_line = [f for f in findings if (f.file, f.line) in right]
    if any(f.rule in codes for f in on_line):
        return EXACT
    if on_line:
        return LINE
    if any(site in right for f in findings for site in f.sites):
        return SITE
    return ELSEWHERE if findings else SILENT


def false_alarms(
    findings: list[Finding], file: str, lines: Iterable[int], codes: Iterable[str], kind: str
) -> list[Finding]:
    """On an equivalent, all; on a latent one, what has neither a right line nor a right code."""
    if kind == "equivalent":
        return findings
    right, codes = {(file, line) for line in lines}, set(codes)
    elsewhere = [f for f in findings if (f.file, f.line) not in right and not right & set(f.sites)]
    return [f for f in elsewhere if f.rule not in codes]


def plain(finding: Finding) -> list[Any]:
    return [finding.rule, finding.file, finding.line, finding.level, [list(site) for site in finding.sites]]


def restored(row: list[Any]) -> Finding:
    rule, file, line, level, sites = row
    return Finding(rule, file, line, level, tuple((f, n) for f, n in sites))
