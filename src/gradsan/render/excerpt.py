"""A few source lines around a location, with the line in question marked."""

from __future__ import annotations

import linecache
import textwrap

from rich.text import Text

from gradsan.judge.lines.source import real_path
from gradsan.judge.report.findings import Location
from gradsan.render.page import plain

AROUND = 2


def excerpt(where: Location) -> list[Text]:
    """Empty where the source is not at hand; the line alone where it has changed since the run."""
    if not where.code:
        return []
    first, lines = _surroundings(where)
    width = len(str(first + len(lines) - 1))
    shown = []
    for number, code in enumerate(lines, first):
        marked = number == where.line
        style = "culprit" if marked else "quiet"
        mark = ("❱ ", "error") if marked else ("  ", "")
        shown.append(Text.assemble(mark, (f"{number:>{width}} │ ", "quiet"), (code, style)))
    return shown


def _surroundings(where: Location) -> tuple[int, list[str]]:
    file = real_path(where.file)
    if linecache.getline(file, where.line).strip() != where.code:
        return where.line, [plain(where.code)]
    total = len(linecache.getlines(file))
    first, last = max(1, where.line - AROUND), min(total, where.line + AROUND)
    code = [linecache.getline(file, number).rstrip().expandtabs(4) for number in range(first, last + 1)]
    # Blank lines at the edges say nothing.
    while not code[-1].strip():
        code.pop()
    while not code[0].strip():
        first += 1
        del code[0]
    return first, [plain(line) for line in textwrap.dedent("\n".join(code)).split("\n")]
