"""Whether what a line binds to a name is out of everybody's reach: a local of its function that is handed to nobody."""

from __future__ import annotations

import ast
import functools

from gradsan.judge.lines.source import around, tree_of


@functools.lru_cache(maxsize=64)
def is_dropped(file: str, line: int) -> bool:
    """`target = deepcopy(q)` in a function that meant the attribute or the global of that name, and at most calls its
    methods."""
    function, statement = around(file, line)
    scope: ast.AST | None = function or tree_of(file)
    if scope is None or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return False
    name = target.id
    shared = [n for n in ast.walk(scope) if isinstance(n, ast.Global | ast.Nonlocal) and name in n.names]
    receivers = {id(n.value) for n in ast.walk(scope) if isinstance(n, ast.Attribute)}
    uses = [
        n for n in ast.walk(scope) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
    ]
    if function is None:
        return not uses
    return not shared and all(id(use) in receivers for use in uses)
