"""Reads `# gradsan: allow …` comments out of source code."""

from __future__ import annotations

import ast
import difflib
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradsan.judge.report.selection import suggestion
from gradsan.rules import catalogue, find

MARK = re.compile(r"#\s*gradsan\b\s*(:?)\s*(\w*)([^#]*)", re.IGNORECASE)
REASON = re.compile(r"\s--|[:;.(]")  # what follows is the author's own
OTHER_TOOLS_SAY = ("ignore", "disable", "noqa", "skip", "silence", "suppress", "nosan", "off")
EXAMPLE = "`# gradsan: allow target-carries-gradient`"
MEANT = "did you mean `# gradsan: allow`?"
Problem = tuple[str, str]  # its kind, and a sentence


@dataclass(frozen=True, slots=True)
class Comment:
    line: int
    covers: range  # the lines of the statement that it belongs to
    rules: tuple[str, ...]
    problems: tuple[Problem, ...] = ()


def comments_in(lines: Sequence[str]) -> list[Comment]:
    source = "".join(lines)
    if "gradsan" not in source.lower():
        return []
    statements = list(_statements(source))
    found = []
    for line, text, alone in _tokens(lines):
        for match in MARK.finditer(text):
            rules, problems = _read(*match.groups())
            if alone and rules:
                rules, problems = (), [*problems, _alone()]
            if rules or problems:
                found.append(Comment(line, _covered(line, statements), tuple(rules), tuple(problems)))
    return found


def _read(colon: str, verb: str, rest: str) -> tuple[Sequence[str], list[Problem]]:
    if verb.lower() != "allow":
        near = difflib.get_close_matches(verb.lower(), ("allow", *OTHER_TOOLS_SAY), n=1, cutoff=0.8)
        said = f"`# gradsan: {verb}` says nothing; {MEANT}"
        return (), [("no-suppression", said)] if colon and near else []
    words = [word for word in re.split(r"[\s,]+", REASON.split(rest)[0]) if word]
    rules = [rule.code for word in words if (rule := find(word)) is not None]
    if not colon:
        said = f"there is a colon missing; {MEANT}"
        return (), [("no-suppression", said)] if rules else []
    if not words:
        return (), [("no-rule", f"it names no rule and silences nothing; write for instance {EXAMPLE}")]
    strange = [word for word in words if find(word) is None and _is_meant_as_rule(word)]
    strange = strange or ([] if rules else words[:1])
    return rules, [("unknown-rule", f"there is no rule {word!r}{suggestion(word)}") for word in strange]


def _is_meant_as_rule(word: str) -> bool:
    """Beside a rule that is known, other words are likely to be a reason."""
    names = [rule.name for rule in catalogue().values()]
    near = difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.7)
    return bool(near) or re.fullmatch(r"(?i)gs\d+", word) is not None


def _alone() -> Problem:
    return (
        "line-of-its-own",
        "it stands on a line of its own and silences nothing; put it at the end of the line",
    )


def _tokens(lines: Sequence[str]) -> Iterator[tuple[int, str, bool]]:
    """Line, text, and whether there is nothing else on the line."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO("".join(lines)).readline))
    except (tokenize.TokenError, SyntaxError):  # a notebook's own language: take it line by line
        for number, line in enumerate(lines, 1):
            code, sign, text = line.partition("#")
            yield number, sign + text, not code.strip()
        return
    for token in tokens:
        if token.type == tokenize.COMMENT:
            row, column = token.start
            yield row, token.string, not lines[row - 1][:column].strip()


def _statements(source: str) -> Iterator[range]:
    """The lines of each statement; of one with a body, those of its head."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = body[0].lineno - 1 if body else node.end_lineno or node.lineno
            yield range(node.lineno, max(node.lineno, end) + 1)


def _covered(line: int, statements: list[range]) -> range:
    return min((s for s in statements if line in s), key=len, default=range(line, line + 1))
