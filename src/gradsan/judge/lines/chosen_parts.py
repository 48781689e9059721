"""Which line chose what is handed on: a filter in a comprehension, a condition in a loop."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradsan.judge.lines.source import around
from gradsan.record.events import Site

if TYPE_CHECKING:
    from gradsan.judge.history import History
    from gradsan.judge.lines.callers import Way

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
CALLED = {"zip", "enumerate", "list", "tuple", "reversed"}
WHOLE = {
    "parameters",
    "named_parameters",
    "state_dict",
    "buffers",
    "named_buffers",
    "items",
    "values",
    "keys",
}


def chosen_at(history: History, way: Way) -> Site:
    """Of a line and those that it was called from, the innermost that leaves something out; the line itself, where
    none does."""
    for site in way:
        seen = history.sites.get(site)
        if seen is not None and _leaves_out(seen.file, seen.line):
            return site
    return way[0]


def handed_at(history: History, way: Way) -> Site:
    """Where a helper goes through all that it is given: the line that gives it. Else the line itself."""
    for site in way:
        seen = history.sites.get(site)
        if seen is not None and not _goes_through_what_is_given(seen.file, seen.line):
            return site
    return way[0]


def _goes_through_what_is_given(file: str, line: int) -> bool:
    """`for p, t in zip(net.parameters(), target.parameters())`, where both are what the function was called with."""
    function, _ = around(file, line)
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    given = {arg.arg for arg in (*function.args.args, *function.args.kwonlyargs)} - {"self", "cls"}
    loops = [
        n for n in ast.walk(function) if isinstance(n, ast.For) and n.lineno <= line <= (n.end_lineno or 0)
    ]
    inside = [n for loop in loops for n in ast.walk(loop.iter)]
    names = {n.id for n in inside if isinstance(n, ast.Name)} - CALLED
    parts = [n for n in inside if isinstance(n, ast.Attribute) and n.attr not in WHOLE]
    return bool(loops) and names <= given and not parts


def _leaves_out(file: str, line: int) -> bool:
    function, statement = around(file, line)
    nodes = list(ast.walk(statement)) if statement is not None else []
    if any(isinstance(node, COMPREHENSIONS) and any(g.ifs for g in node.generators) for node in nodes):
        return True
    loops = [node for node in ast.walk(function) if isinstance(node, ast.For)] if function is not None else []
    return any(
        loop.lineno < line <= (loop.end_lineno or 0) and any(isinstance(n, ast.If) for n in ast.walk(loop))
        for loop in loops
    )
