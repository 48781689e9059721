"""What an answer may contain. Read from the text alone, before any of it runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

# Enough for every exercise; `sys`, `os`, `inspect` or gradsan itself would only serve to fool the check.
ALLOWED = {"torch", "math", "copy", "random", "collections", "typing", "functools", "itertools", "__future__"}
SILENCER = re.compile(r"gradsan\s*:", re.IGNORECASE)


def objections(source: str) -> list[str]:
    """Why this text cannot count as an answer, whatever it computes; empty where it can."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        return [f"Python cannot read the file: {error.msg} (line {error.lineno})."]
    return [*_silenced(source), *_foreign_imports(tree)]


def _silenced(source: str) -> Iterator[str]:
    # On the raw text, strings included: the sanitizer, too, looks for its comment in the line as it stands.
    for number, line in enumerate(source.splitlines(), start=1):
        if SILENCER.search(line):
            yield (
                f"Line {number} silences gradsan (`{line.strip()}`). "
                "The bug is still there: mend the line and take the comment out."
            )


def _foreign_imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "."]
        else:
            continue
        for name in names:
            if name.partition(".")[0] not in ALLOWED:
                yield f"Line {node.lineno} imports `{name}`. The exercise needs torch only: do without it."
