"""Goes through files, one after the other, and makes a report of what the checks say about them."""

from __future__ import annotations

import ast
import gc
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from gradsan.judge.lines.source import shown_path
from gradsan.judge.report.findings import Finding, Location, Report, RoleSite
from gradsan.judge.report.suppressions import Suppressions
from gradsan.lint.checks import CHECKS, CheckEntry
from gradsan.lint.files import read
from gradsan.lint.mistake import Mistake, Node
from gradsan.lint.source_file import SourceFile
from gradsan.rules.base import Rule

ONLY_BY_RUNNING = "it can be told only by running the program: `gradsan run`"


class SkippedFile(NamedTuple):
    """Why a file was skipped, and on which line."""

    line: int
    message: str


class Linter:
    def __init__(self, rules: Sequence[type[Rule]]) -> None:
        self._rules = {rule.code: rule for rule in rules}
        self._checks = [entry for entry in CHECKS if any(code in self._rules for code in entry.rules)]
        self._lines: dict[str, list[str]] = {}  # of the file at hand
        self._suppressions = Suppressions(lambda file: self._lines.get(file, []))
        self.report = Report(mode="lint", files=0)

    def run(self, files: Sequence[str]) -> Report:
        with _without_collector():
            for file in files:
                self._lint(file)
        report = self.report
        report.findings.sort(
            key=lambda f: (f.culprit.file, f.culprit.line, f.rule) if f.culprit else ("", 0, "")
        )
        report.suppressed = [silenced.as_dict() for silenced in self._suppressions.silenced.values()]
        report.evaluated = frozenset(
            code for entry in self._checks for code in entry.rules if code in self._rules
        )
        return report

    def say_what_cannot_be_told(self) -> None:
        """For rules that were asked for by name: silence about them would look like an all-clear."""
        known = {code for entry in CHECKS for code in entry.rules}
        missing = [code for code in self._rules if code not in known]
        self.report.not_evaluated += [{"rule": code, "reason": ONLY_BY_RUNNING} for code in missing]

    def _lint(self, path: str) -> None:
        shown = shown_path(path)
        parsed = parse(path, shown)
        if isinstance(parsed, SkippedFile):
            place = {"file": shown, "line": parsed.line, "message": parsed.message}
            self.report.unreadable.append(place)
            return
        assert self.report.files is not None
        self.report.files += 1
        text = "".join(parsed.lines)
        self._lines = {shown: list(parsed.lines)}
        for entry in self._checks:
            if entry.may_concern(text):
                self._apply(entry, parsed)
        parsed.close()
        # No line counts as reached: what a comment silences may be seen only while the program runs.
        self.report.suppression_problems += self._suppressions.problems({(shown, 0)}, set())

    def _apply(self, entry: CheckEntry, file: SourceFile) -> None:
        try:
            mistakes = list(entry.load()(file))
        except Exception:  # a fault of ours costs one check of one file
            fault = {"tap": f"lint, {entry.module}, {file.shown}", "traceback": traceback.format_exc()}
            self.report.faults.append(fault)
            return
        for mistake in mistakes:
            rule = self._rules.get(mistake.rule)
            if rule is not None:
                self._take(finding_of(mistake, rule, file))

    def _take(self, finding: Finding) -> None:
        where = finding.culprit
        key = (finding.rule, where.file, where.line) if where is not None else finding.rule
        if not self._suppressions.silence(key, finding):
            self.report.findings.append(finding)


def parse(path: str, shown: str) -> SourceFile | SkippedFile:
    try:
        text = read(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the strings in somebody's source
            tree = ast.parse(text, path)
    except SyntaxError as error:
        return SkippedFile(error.lineno or 1, f"it is no Python: {error.msg}")
    except (
        ValueError,
        RecursionError,
        MemoryError,
    ) as error:  # null bytes, another encoding, nested too deep
        return SkippedFile(1, f"it is no Python: {error}")
    except OSError as error:
        return SkippedFile(1, f"it cannot be read: {error.strerror or error}")
    return SourceFile(shown, text.splitlines(keepends=True), tree)


def finding_of(mistake: Mistake, rule: type[Rule], file: SourceFile) -> Finding:
    def location(node: Node) -> Location:
        code = file.lines[node.lineno - 1].strip() if node.lineno <= len(file.lines) else ""
        return Location(file.shown, node.lineno, mistake.scope.name, code)

    sites = tuple(RoleSite(role, location(node)) for role, node in mistake.sites)
    severity = mistake.severity or rule.severity
    culprit = location(mistake.culprit)
    return Finding(rule.code, rule.name, severity, mistake.message, rule.fix, culprit, sites, static=True)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Syntax trees are many objects without cycles: the collector would only count them, again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
