"""Through how many hands a value went: which line first had it under a name that no caller gave it."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from gradsan.judge.lines.source import arguments_at, around, called_name, names_in
from gradsan.record.events import Site

if TYPE_CHECKING:
    from gradsan.judge.history import History
    from gradsan.judge.lines.callers import Way


def handed_in_by(history: History, way: Way) -> Site:
    """Of a line that goes wrong with what it names twice (`(x * mask).sum() / mask.sum()`) and those that it was called
    from, the first that does not only hand it on from its own caller."""
    wanted: set[str] | None = None
    callee: ast.FunctionDef | None = None
    for site in way:
        seen = history.sites.get(site)
        if seen is None:
            return site
        function, statement = around(seen.file, seen.line)
        if function is None or statement is None:
            return site
        names = _named_twice(statement) if wanted is None else _given(statement, callee, wanted)
        wanted = names & arguments_at(seen.file, seen.line)
        if not wanted:
            return site
        callee = function
    return way[-1]


def _named_twice(statement: ast.stmt) -> set[str]:
    names = Counter(node.id for node in ast.walk(statement) if isinstance(node, ast.Name))
    return {name for name, times in names.items() if times > 1} or set(names)


def _given(statement: ast.stmt, callee: ast.FunctionDef | None, wanted: set[str]) -> set[str]:
    """The names in what a call gives these arguments of a function."""
    for call in ast.walk(statement):
        if callee is not None and isinstance(call, ast.Call) and called_name(call) == callee.name:
            return set[str]().union(*(names_in(value) for value in _bound(call, callee, wanted)))
    return set()


def _bound(call: ast.Call, callee: ast.FunctionDef, wanted: set[str]) -> list[ast.expr]:
    places = [a.arg for a in (*callee.args.posonlyargs, *callee.args.args) if a.arg not in ("self", "cls")]
    given = dict(zip(places, call.args, strict=False))
    given |= {k.arg: k.value for k in call.keywords if k.arg is not None}
    return [value for name, value in given.items() if name in wanted]
