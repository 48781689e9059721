"""The loop of a class that has summed up what one of its other methods hands over: `self.advantages[t] = last`.

Numbers that NumPy computed pass no tap; but where a method hands over attributes, the methods of its class say which
loop has filled them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from gradsan.judge.history import History
from gradsan.judge.lines.callers import way_of
from gradsan.judge.lines.source import names_in, tree_of
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
    around = [n for n in nodes if isinstance(n, ast.ClassDef) and n.lineno <= line <= (n.end_lineno or 0)]
    methods = [n for n in around[-1].body if isinstance(n, ast.FunctionDef)] if around else []
    own = [n for n in methods if n.lineno <= line <= (n.end_lineno or 0)]
    if not own:
        return frozenset()
    wanted = _made_of(methods, _attributes(own[0]))
    return frozenset(place for method in methods for place in _carrying(method, wanted))


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
