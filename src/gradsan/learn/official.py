"""The official solution, as the lines in which it differs from the exercise."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from gradsan.learn.catalogue import Exercise

CONTEXT = 1  # lines around a change, so that its place is recognised
GAP = "  …"


def changes(exercise: Exercise) -> Iterator[str]:
    """Lines that start with "- ", "+ " or two blanks; where some are left out there is a gap."""
    task, solution = exercise.task.splitlines(), exercise.solution.splitlines()
    _, _, _, *lines = difflib.unified_diff(task, solution, n=CONTEXT, lineterm="")
    for line in lines:
        yield GAP if line.startswith("@@") else f"{line[0]} {line[1:]}".rstrip()


def same_program(answer: str, exercise: Exercise) -> bool:
    """Whether the answer is the official one but for comments and layout."""
    try:
        return ast.dump(ast.parse(answer)) == ast.dump(ast.parse(exercise.solution))
    except SyntaxError:
        return False
