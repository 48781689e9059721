"""Where the lines of a file are after a change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import SequenceMatcher

from gradsan.fix.encoding import decoded, encoding_of
from gradsan.judge.lines.source import real_path
from gradsan.judge.report.findings import Finding, Location, RoleSite

Key = tuple[str, str, int]


class LineMap:
    """From the lines of `before` to those of `after`; a changed line goes to the one in its place."""

    def __init__(self, before: bytes, after: bytes) -> None:
        old, self._new = before.splitlines(), after.splitlines()
        self._encoding = encoding_of(after)
        self._map: dict[int, int] = {}
        for _, first, end, start, stop in SequenceMatcher(a=old, b=self._new, autojunk=False).get_opcodes():
            for number in range(first, end):
                self._map[number + 1] = max(min(start + number - first, stop - 1), start, 0) + 1

    def __getitem__(self, line: int) -> int:
        return self._map.get(line, line)

    def text(self, line: int) -> str:
        return decoded(self._new[line - 1], self._encoding).strip() if line <= len(self._new) else ""


class Moved:
    """Findings of one source tree, as they would read in the next; `maps` by the real path of a file."""

    def __init__(self, maps: Mapping[str, LineMap]) -> None:
        self._maps = maps

    def finding(self, finding: Finding) -> Finding:
        culprit = None if finding.culprit is None else self._location(finding.culprit)
        sites = tuple(RoleSite(site.role, self._location(site.location)) for site in finding.sites)
        return replace(finding, culprit=culprit, sites=sites)

    def _location(self, where: Location) -> Location:
        lines = self._maps.get(real_path(where.file))
        if lines is None:
            return where
        line = lines[where.line]
        return replace(where, line=line, code=lines.text(line))


def key(finding: Finding) -> Key:
    where = finding.culprit
    return (finding.rule, where.file, where.line) if where is not None else (finding.rule, "", 0)


def keys(findings: Iterable[Finding]) -> Counter[Key]:
    return Counter(key(finding) for finding in findings)
