"""Comments that silence a rule: what they silenced, and which of them do nothing."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gradsan.judge.lines.source import real_path
from gradsan.judge.report.comments import Comment, comments_in
from gradsan.judge.report.findings import Finding, Location
from gradsan.rules import find

# Whether these have anything to report differs from run to run: numbers do, and a sync may be far off.
CHANGEABLE = {"GS208", "GS307", "GS501", "GS502", "GS503"}
ShownLine = tuple[str, int]  # a file, as it is shown, and a line of it


@dataclass(frozen=True, slots=True)
class Silenced:
    """A finding that was not reported, and the comment that asked for it."""

    finding: Finding
    file: str
    line: int

    def as_dict(self) -> dict[str, Any]:
        known = self.finding
        culprit = None if known.culprit is None else asdict(known.culprit)
        comment = {"file": self.file, "line": self.line}
        about = {"rule": known.rule, "name": known.name, "severity": known.severity}
        return {**about, "culprit": culprit, "comment": comment}


def _source(file: str) -> list[str]:
    return linecache.getlines(real_path(file))


class Suppressions:
    """One per run or per re-judged trace."""

    def __init__(self, source: Callable[[str], Sequence[str]] = _source) -> None:
        self.silenced: dict[Any, Silenced] = {}
        self._source = source
        self._comments: dict[str, list[Comment]] = {}
        self._used: set[tuple[str, int, str]] = set()  # file and line of the comment, and the rule

    def silence(self, key: Any, finding: Finding) -> bool:
        """Whether a comment on the culprit or on a line of the story allows it. `key` tells findings apart."""
        places = [p for p in (finding.culprit, *(s.location for s in finding.sites)) if p is not None]
        asking = [(place.file, comment.line) for place in places for comment in self._asking(place, finding)]
        self._used.update((*where, finding.rule) for where in asking)
        if asking:
            self.silenced[key] = Silenced(finding, *asking[0])
        return bool(asking)

    def _asking(self, place: Location, finding: Finding) -> list[Comment]:
        comments = self._in(place.file)
        return [c for c in comments if place.line in c.covers and finding.rule in c.rules]

    def _in(self, file: str) -> list[Comment]:
        if file not in self._comments:
            self._comments[file] = comments_in(self._source(file))
        return self._comments[file]

    def problems(self, reached: set[ShownLine], evaluated: set[str]) -> list[dict[str, Any]]:
        """Comments, in the files that were reached, that cannot mean what they say; and those on a line that was
        reached, about a rule that was evaluated, that silenced nothing."""
        found = []
        for file in sorted({file for file, _ in reached}):
            for comment in self._in(file):
                told = list(comment.problems)
                if any((file, line) in reached for line in comment.covers):
                    told += self._idle(file, comment, evaluated)
                at = {"file": file, "line": comment.line}
                found += [{**at, "kind": kind, "message": message} for kind, message in told]
        return found

    def _idle(self, file: str, comment: Comment, evaluated: set[str]) -> list[tuple[str, str]]:
        used = {rule for rule in comment.rules if (file, comment.line, rule) in self._used}
        idle = [rule for rule in comment.rules if rule in evaluated - used - CHANGEABLE]
        names = [rule.name for code in idle if (rule := find(code)) is not None]
        return [("silenced-nothing", f"`{name}` silenced nothing in this run") for name in names]
