"""Where the source puts a value away: the line that stores what another line has made."""

from __future__ import annotations

import ast

from gradsan.judge.source import around

STORING = {"append", "appendleft", "extend", "add", "insert", "put", "push", "store", "update"}


def stored_at(file: str, line: int) -> int:
    """The line that stores what the statement on this line makes, in the same function; 0 where none does."""
    function, statement = around(file, line)
    if statement is None:
        return 0
    if _stores(statement, None):
        return statement.lineno
    names = _assigned(statement)
    for node in ast.walk(function) if function is not None and names else ():
        if isinstance(node, ast.stmt) and node.lineno > line and _stores(node, names):
            return node.lineno
    return 0


def _stores(statement: ast.stmt, names: set[str] | None) -> bool:
    """Whether it hands one of these (None: anything) to a container, or assigns it to an attribute or a place."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        known = isinstance(call.func, ast.Attribute) and call.func.attr in STORING
        return known and any(names is None or names & _names(part) for part in call.args)
    if isinstance(statement, ast.Assign) and names is not None:
        kept = isinstance(statement.targets[0], ast.Attribute | ast.Subscript)
        return kept and bool(names & _names(statement.value))
    return False


def _assigned(statement: ast.stmt) -> set[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return {name for target in targets for name in _names(target)}


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
