"""The line that puts an array into another order: `returns = returns[order]`, or `rng.shuffle(returns)`."""

from __future__ import annotations

import ast
import functools

from gradsan.judge.history import History
from gradsan.judge.lines.arrival_lines import given_at
from gradsan.judge.lines.source import around, names_in, tree_of
from gradsan.record.events import Op, Site


def shuffled_at(history: History, arrived: Op, otherwise: Site) -> Site:
    """Of what arrives by this operation; `otherwise`, where the source does not tell."""
    seen = history.sites.get(arrived.site)
    line = _line(seen.file, seen.line) if seen is not None else 0
    return history.site_at(seen.file, line, seen.function) if seen is not None and line else otherwise


@functools.lru_cache(maxsize=256)
def _line(file: str, line: int) -> int:
    names = names_in(given) if (given := given_at(file, line)) is not None else set()
    scope = around(file, line)[0] or tree_of(file)
    before = [n for n in (ast.walk(scope) if scope is not None else ()) if getattr(n, "lineno", line) < line]
    found = [
        n.lineno for n in before if isinstance(n, ast.stmt) and any(_reorders(n, name) for name in names)
    ]
    return max(found, default=0)


def _reorders(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return any(
            isinstance(argument, ast.Name) and argument.id == name for argument in statement.value.args
        )
    if not isinstance(statement, ast.Assign) or name not in names_in(statement.targets[0], ast.Store):
        return False
    taken = (n for n in ast.walk(statement.value) if isinstance(n, ast.Subscript))
    return any(isinstance(n.value, ast.Name) and n.value.id == name for n in taken)
