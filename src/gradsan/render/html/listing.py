"""The source lines that a finding speaks of, in one listing per file, with what lies between left out."""

from __future__ import annotations

import functools
import linecache
import re
from dataclasses import dataclass, field

from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from gradsan.judge.lines.source import real_path
from gradsan.judge.report.findings import Finding, Location
from gradsan.render.page import plain

AROUND = 2
LARGEST = 300_000  # characters that are worth colouring as a whole
LIGHT, DARK = "default", "github-dark"


@dataclass(slots=True)
class Line:
    number: int
    code: Markup
    roles: list[tuple[int, str]] = field(default_factory=list)  # position in the story, and what happens
    culprit: bool = False
    gap: bool = False  # lines before this one are left out
    joined: bool = False  # lies between two lines of the story


@dataclass(slots=True)
class Listing:
    file: str
    function: str
    lines: list[Line]


def listing(finding: Finding, roles: dict[str, str]) -> list[Listing]:
    """The culprit's file first."""
    story = [(n, roles.get(s.role, s.role), s.location) for n, s in enumerate(finding.sites, 1)]
    places = [finding.culprit] if finding.culprit else []
    places += [location for _, _, location in story]
    found = []
    for file in dict.fromkeys(place.file for place in places):
        own = [place for place in places if place.file == file]
        told: dict[int, list[tuple[int, str]]] = {}
        for number, role, place in story:
            if place.file == file:
                told.setdefault(place.line, []).append((number, plain(role)))
        culprit = finding.culprit.line if finding.culprit and finding.culprit.file == file else 0
        lines = _lines(own, told, culprit)
        if lines:
            found.append(Listing(file, own[0].function, lines))
    return found


def _lines(places: list[Location], told: dict[int, list[tuple[int, str]]], culprit: int) -> list[Line]:
    source = _source(places[0].file)
    if all(0 < p.line <= len(source) and source[p.line - 1].strip() == p.code for p in places):
        numbers = {n for p in places for n in range(p.line - AROUND, p.line + AROUND + 1)}
        numbers = {n for n in numbers if 0 < n <= len(source)}
        coloured = _coloured(places[0].file)
    else:  # the file has changed since the run, or is not at hand: show the lines that were seen
        numbers = {p.line for p in places if p.code}
        coloured = {p.line: highlighted(p.code) for p in places}
    marked = sorted({p.line for p in places})
    found: list[Line] = []
    for number in sorted(numbers):
        gap = bool(found) and found[-1].number != number - 1
        joined = marked[0] <= number < marked[-1]
        roles = told.get(number, [])
        found.append(Line(number, coloured[number], roles, number == culprit, gap, joined))
    return _trimmed(found, source)


def _trimmed(lines: list[Line], source: list[str]) -> list[Line]:
    """Without blank lines at the edges, and without the indentation that all lines share."""
    told = [n for n, line in enumerate(lines) if line.roles or line.culprit or line.code.striptags().strip()]
    lines = lines[told[0] : told[-1] + 1] if told else lines
    texts = [source[line.number - 1].expandtabs(4) for line in lines if line.number <= len(source)]
    indents = [len(text) - len(text.lstrip()) for text in texts if text.strip()]
    shared = re.compile(rf"^((?:<span[^>]*>)?) {{{min(indents, default=0)}}}")
    for line in lines:
        line.code = Markup(shared.sub(r"\1", str(line.code)))
    return lines


@functools.lru_cache(maxsize=32)
def _source(file: str) -> list[str]:
    return [line.rstrip("\n") for line in linecache.getlines(real_path(file))]


@functools.lru_cache(maxsize=32)
def _coloured(file: str) -> dict[int, Markup]:
    lines = [plain(line.expandtabs(4)) for line in _source(file)]
    text = "\n".join(lines)
    shown = highlighted(text).split("\n") if len(text) < LARGEST else [Markup.escape(line) for line in lines]
    return {number: Markup(line) for number, line in enumerate(shown, 1)}


def highlighted(code: str) -> Markup:
    """One line of HTML per line of code: every span is closed at the end of its line."""
    text = "\n".join(plain(line) for line in code.split("\n"))
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    return Markup(highlight(text, lexer, HtmlFormatter(nowrap=True)))  # Pygments escapes


def styles() -> str:
    light = HtmlFormatter(style=LIGHT).get_style_defs(".code")  # type: ignore[no-untyped-call]
    dark = HtmlFormatter(style=DARK).get_style_defs(':root[data-theme="dark"] .code')  # type: ignore[no-untyped-call]
    rules = f"{light}\n{dark}".split("\n")
    return "\n".join(rule for rule in rules if " .code ." in f" {rule}")  # colours of tokens, no more
