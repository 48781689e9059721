"""The line that adds a number which has left torch to something: its own, or that of the name it was given."""

from __future__ import annotations

import ast
import functools

from gradsan.judge.history import History
from gradsan.judge.lines.source import around, names_in, tree_of
from gradsan.record.events import Site


def added_to_at(history: History, site: Site) -> Site:
    """`after = q(x).max().item()`, then `target = reward + gamma * after`: the second line; `site` itself, where the
    source does not tell."""
    seen = history.sites.get(site)
    line = _line(seen.file, seen.line) if seen is not None else 0
    return history.site_at(seen.file, line, seen.function) if seen is not None and line else site


@functools.lru_cache(maxsize=256)
def _line(file: str, line: int) -> int:
    function, statement = around(file, line)
    if not isinstance(statement, ast.Assign) or _adds(statement):
        return 0
    names = set[str]().union(*(names_in(target, ast.Store) for target in statement.targets))
    scope = function or tree_of(file)
    later = [
        n
        for n in (ast.walk(scope) if scope is not None else ())
        if isinstance(n, ast.Assign | ast.AugAssign | ast.Expr) and n.lineno > line
    ]
    adding = [n.lineno for n in later if _adds(n) and names & names_in(n, ast.Load)]
    return min(adding, default=0)


def _adds(statement: ast.stmt) -> bool:
    added = (n.op for n in ast.walk(statement) if isinstance(n, ast.BinOp | ast.AugAssign))
    return any(isinstance(op, ast.Add) for op in added)
