"""The loop of a class that has summed up what one of its other methods hands over: `self.advantages[t] = last`.

Numbers that NumPy computed pass no tap; but where a method hands over attributes, the methods of its class say which
loop has filled them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from gradsan.judge.history import History
from gradsan.judge.lines.callers import way_of
from gradsan.judge.lines.source import around, names_in, tree_of
from gradsan.record.events import NOWHERE, Op, Site

Place = tuple[int, str]  # a line, and its function


def summed_by_class(history: History, arrived: Op) -> Site:
    """The one line that carries on the sum which arrives here, or comes from somebody who hands it over; nowhere, where
    the source does not tell."""
    for site in way_of(history, arrived):
        seen = history.sites.get(site)
        if seen is not None and len(places := _places(seen.file, seen.line)) == 1:
            line, function = next(iter(places))
            return history.site_at(seen.file, line, function)
    return NOWHERE


@functools.lru_cache(maxsize=256)
def _places(file: str, line: int) -> frozenset[Place]:
    tree = tree_of(file)
    nodes = list(ast.walk(tree)) if tree is not None else []
    inside = [n for n in nodes if isinstance(n, ast.ClassDef) and n.lineno <= line <= (n.end_lineno or 0)]
    methods = [n for n in inside[-1].body if isinstance(n, ast.FunctionDef)] if inside else []
    own = [n for n in methods if n.lineno <= line <= (n.end_lineno or 0)]
    if own:
        return frozenset(_summed(methods, _attributes(own[0])))
    read = _read_at(file, line)  # from outside: `buffer.advantages`
    classes = [n for n in nodes if isinstance(n, ast.ClassDef)] if read else []
    bodies = [[n for n in kind.body if isinstance(n, ast.FunctionDef)] for kind in classes]
    return frozenset(place for body in bodies for place in _summed(body, read))


def _summed(methods: list[ast.FunctionDef], names: set[str]) -> Iterator[Place]:
    wanted = _made_of(methods, names)
    for method in methods:
        yield from _carrying(method, wanted)


def _read_at(file: str, line: int) -> set[str]:
    """The attributes of objects that the statement on this line, or what its names were bound to before, takes."""
    function, statement = around(file, line)
    scope = function or tree_of(file)
    if scope is None or statement is None:
        return set()
    names = names_in(statement, ast.Load)
    before = [n for n in ast.walk(scope) if isinstance(n, ast.Assign) and n.lineno < statement.lineno]
    bound = [n for n in before if names & names_in(n.targets[0], ast.Store)]
    parts = [n for step in (statement, *bound) for n in ast.walk(step)]
    return {n.attr for n in parts if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)}


def _attributes(node: ast.AST) -> set[str]:
    """`self.x`, read or written."""
    return {
        n.attr
        for n in ast.walk(node)
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "self"
    }


def _made_of(methods: list[ast.FunctionDef], names: set[str]) -> set[str]:
    """These attributes, and those that they were assigned from."""
    assigned = [n for method in methods for n in ast.walk(method) if isinstance(n, ast.Assign)]
    return names.union(*(_attributes(n.value) for n in assigned if _attributes(n.targets[0]) & names))


def _carrying(method: ast.FunctionDef, wanted: set[str]) -> Iterator[Place]:
    """`last = delta + c * last`, in a loop that puts `last` into one of these attributes."""
    for loop in (n for n in ast.walk(method) if isinstance(n, ast.For | ast.While)):
        steps = [n for n in loop.body if isinstance(n, ast.Assign)]
        put = [
            n.value
            for n in steps
            if isinstance(n.targets[0], ast.Subscript) and _attributes(n.targets[0]) & wanted
        ]
        kept = {value.id for value in put if isinstance(value, ast.Name)}
        for step in steps:
            name = step.targets[0].id if isinstance(step.targets[0], ast.Name) else ""
            adds = any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Add) for n in ast.walk(step.value))
            if name in kept and name in names_in(step.value) and adds:
                yield step.lineno, method.name
