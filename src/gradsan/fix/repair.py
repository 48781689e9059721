"""The repairs that a finding has: whole new texts of one file, the smallest change first. Nothing is written here."""

from __future__ import annotations

import ast
import functools
import linecache
import os
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gradsan.fix.encoding import decoded, encoding_of
from gradsan.fix.lines import LineMap
from gradsan.judge.lines.source import real_path
from gradsan.judge.report.findings import Finding

if TYPE_CHECKING:
    from gradsan.fix.source import Change, Source

INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
LIBRARY = tuple(os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib"))
OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


@dataclass(frozen=True)
class Repair:
    """`file` is as the finding shows it; `what` completes "gradsan would …"."""

    file: str
    before: bytes
    after: bytes
    what: str
    touched: frozenset[int] = frozenset()  # lines of `before` that are changed, moved or gone


def repairs(finding: Finding, data: bytes | None = None, include: tuple[str, ...] = ()) -> list[Repair]:
    """`data`: the text of the culprit's file, where it is not what lies on disk."""
    where = finding.culprit
    if where is None or not is_users(real_path(where.file), include):
        return []
    if data is None and (data := text_of(where.file)) is None:
        return []
    try:
        return list(_repairs(finding, data))
    except (RecursionError, MemoryError):
        return []


def together(finding: Finding, first: Repair, second: Repair) -> Repair | None:
    """Two repairs as one, the second made on top of the first; None where it touches what `finding` does not name."""
    back = LineMap(second.before, first.before)
    touched = first.touched | {back[line] for line in second.touched}
    if first.after != second.before or not touched <= _named_lines(finding, _parsed(first.before)):
        return None
    what = f"{first.what}, and {second.what}"
    return Repair(first.file, first.before, second.after, what, frozenset(touched))


def _repairs(finding: Finding, data: bytes) -> Iterator[Repair]:
    from gradsan.fix.families import FAMILIES, proposals  # loads LibCST: only where a repair is asked for
    from gradsan.fix.source import Unparsable

    assert finding.culprit is not None
    if finding.rule not in FAMILIES or not _is_as_it_ran(finding, data):
        return
    try:
        source = _parsed(data)
    except Unparsable:
        return
    seen = {data}
    for proposal in proposals(finding, source):
        touched = _touched(proposal.change, source)
        if not touched <= _named_lines(finding, source):
            continue
        after = proposal.change.result()
        if after not in seen and _compiles(after):
            seen.add(after)
            yield Repair(finding.culprit.file, data, after, proposal.what, frozenset(touched))


@functools.lru_cache(maxsize=4)
def _parsed(data: bytes) -> Source:
    from gradsan.fix.source import Source

    return Source(data)


def _is_as_it_ran(finding: Finding, data: bytes) -> bool:
    """Where the file has changed since, the finding's line is another."""
    where, lines = finding.culprit, data.splitlines()
    assert where is not None
    if not 1 <= where.line <= len(lines):
        return False
    return not where.code or decoded(lines[where.line - 1], encoding_of(data)).strip() == where.code


def _named_lines(finding: Finding, source: Source) -> set[int]:
    """Every line of the statements that the finding names, in this file."""
    named: set[int] = set()
    where = [site.location for site in finding.sites] + ([finding.culprit] if finding.culprit else [])
    for location in where:
        if finding.culprit is not None and location.file == finding.culprit.file:
            named.add(location.line)
            if (statement := source.statement(location.line)) is not None:
                first, last = source.lines_of(statement)
                named.update(range(first, last + 1))
    return named


def _touched(change: Change, source: Source) -> set[int]:
    """All lines of the statements that change: parentheses may stand on others than what they hold."""
    lines: set[int] = set()
    for node in change.touched:
        for line in {*source.lines_of(node)}:
            statement = source.statement(line)
            first, last = source.lines_of(statement if statement is not None else node)
            lines.update(range(first, last + 1))
    return lines


def _compiles(data: bytes) -> bool:
    try:
        ast.parse(data)
    except (SyntaxError, ValueError):
        return False
    return True


def is_users(path: str, include: tuple[str, ...] = ()) -> bool:
    """Not an installed library's, unless it is said to be under development."""
    if path.startswith("<"):
        return bool(linecache.getline(path, 1))
    path = os.path.realpath(path)
    parts = [os.sep + name.replace(".", os.sep) for name in include]
    if any(part + end in path for part in parts for end in (os.sep, ".py")):
        return True
    return not (any(part in path for part in INSTALLED) or path.startswith((*LIBRARY, OWN)))


def text_of(shown: str) -> bytes | None:
    """As it lies on disk; code that stands in no file as it was run."""
    path = real_path(shown)
    try:
        return Path(path).read_bytes()
    except OSError:
        return "".join(linecache.getlines(path)).encode() or None
