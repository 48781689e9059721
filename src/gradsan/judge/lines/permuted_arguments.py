"""A call that gives a function's arguments in another order than it names them: `loss(pc, pr, rr, rc)` of a function
`loss(pc, pr, rc, rr)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradsan.judge.lines.source import around, called_name
from gradsan.record.events import NOWHERE, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History
    from gradsan.judge.lines.callers import Way


def call_that_permutes(history: History, way: Way) -> Site:
    """Of a line and those it was called from, the first that calls the one before it so."""
    callee: ast.FunctionDef | None = None
    for site in way:
        seen = history.sites.get(site)
        function, statement = around(seen.file, seen.line) if seen is not None else (None, None)
        if callee is not None and statement is not None and _permutes(statement, callee):
            return site
        if function is None:
            return NOWHERE
        callee = function
    return NOWHERE


def _permutes(statement: ast.stmt, callee: ast.FunctionDef) -> bool:
    """Whether a name is given that another of the arguments has, and the other way round."""
    places = [a.arg for a in (*callee.args.posonlyargs, *callee.args.args) if a.arg not in ("self", "cls")]
    for call in ast.walk(statement):
        if not isinstance(call, ast.Call) or called_name(call) != callee.name:
            continue
        given = dict(zip(places, call.args, strict=False))
        given |= {k.arg: k.value for k in call.keywords if k.arg is not None}
        names = {place: _name(value) for place, value in given.items()}
        return any(name != place and names.get(name) == place for place, name in names.items())
    return False


def _name(value: ast.expr) -> str:
    return value.id if isinstance(value, ast.Name) else value.attr if isinstance(value, ast.Attribute) else ""
