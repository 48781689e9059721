"""The findings that a code base is known to have: only what is new is reported.

A finding is recognised by rule, file, function and the code of its line, not by the number of that line: code that
moves is still known, code that changes is looked at again.
"""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from gradsan.judge.lines.source import real_path
from gradsan.judge.report.baseline_file import (
    INSTALLED,
    KnownFinding,
    below,
    code_only,
    contents,
    entry_of,
    read,
)
from gradsan.judge.report.findings import Finding, Report
from gradsan.rules import find


class Baseline:
    def __init__(self, path: str, entries: Counter[KnownFinding]) -> None:
        self.shown = path
        self.path = Path(path).absolute()
        self.entries = entries

    @classmethod
    def read(cls, path: str) -> Baseline:
        return cls(path, read(path))

    def entry(self, finding: Finding) -> KnownFinding:
        return entry_of(finding, self.path.parent)

    def listener(self, then: Callable[[Finding], None]) -> Callable[[Finding], None]:
        """Passes on what is new, as it is found."""
        left = Counter(self.entries)

        def found(finding: Finding) -> None:
            entry = self.entry(finding)
            if left[entry] > 0:
                left[entry] -= 1
            else:
                then(finding)

        return found

    def apply(self, report: Report) -> None:
        """Take what is known out of the report, and note there what is missing."""
        new = self.new(report.findings)
        report.known = [f for f in report.findings if not any(f is n for n in new)]
        report.findings = new
        missing = self.entries - Counter(map(self.entry, report.known))
        gone = [entry.as_dict() for entry in self.gone(missing, report)]
        report.baseline = {"file": self.shown, "hidden": len(report.known), "gone": gone}

    def new(self, findings: Iterable[Finding]) -> list[Finding]:
        """In their own order; of several that look the same, those met first are the known ones."""
        findings, told = list(findings), list[Finding]()
        listener = self.listener(told.append)
        for finding in sorted(findings, key=lambda f: f.first_iteration):
            listener(finding)
        return [f for f in findings if any(f is t for t in told)]

    def gone(self, missing: Iterable[KnownFinding], report: Report) -> list[KnownFinding]:
        """Of the entries that did not occur, those that could have: another script may have the rest."""
        reached = {(below(self.path.parent, real_path(file)), function) for file, function in report.reached}
        return [entry for entry in sorted(missing) if self._is_gone(entry, reached, report.evaluated)]

    def _is_gone(self, entry: KnownFinding, reached: set[tuple[str, str]], evaluated: frozenset[str]) -> bool:
        if find(entry.rule) is None:  # of another version of gradsan
            return True
        was_there = (entry.file, entry.function) in reached
        return entry.rule in evaluated and (was_there or not self._is_written(entry))

    def _is_written(self, entry: KnownFinding) -> bool:
        """Whether the line is still in the file, as far as that can be told."""
        if entry.file.startswith(("<", INSTALLED)) or not entry.file:
            return True
        file = self.path.parent / entry.file
        try:
            if not stat.S_ISREG(file.stat().st_mode):  # what a file says must not make us read a device
                return True
            lines = file.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return False
        except (OSError, ValueError):
            return True
        return entry.code in map(code_only, lines)

    def updated(self, report: Report) -> str:
        """What the file should say after this run: entries of what it did not come to are kept."""
        present = Counter(self.entry(finding) for finding in (*report.findings, *report.known))
        missing = self.entries - present
        for entry in self.gone(missing, report):
            del missing[entry]
        return contents(present + missing)
