"""The line that carries a value from one iteration into the next: not always the one that computes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradsan.judge.lines.callers import used_in, way_of
from gradsan.judge.lines.source import (
    STORING,
    around,
    bindings,
    called_name,
    loops_around,
    names_bound_at,
    stored_at,
    tree_of,
    words_at,
)
from gradsan.record.events import NOWHERE, Op, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History

EMPTY = ("[]", "{}", "list()", "dict()", "deque()")


def carried_by(history: History, op: Op) -> Site:
    """Where the value is put into an attribute, in its function or in one that it is returned to, or gets another name
    for the next round of its loop; else the last line that it is returned to, or its own. Where a library calls the
    function (a loader its collator), nobody can see what becomes of it."""
    called, last = "", op.site
    for site in way_of(history, op):
        if (seen := history.sites.get(site)) is None:
            return site
        if called and not _calls(seen.file, seen.line, called):
            return last
        called = seen.function.rpartition(".")[2]
        function, statement = around(seen.file, seen.line)
        names = names_bound_at(seen.file, seen.line)
        last = site
        if isinstance(statement, ast.Return):  # whoever called it has it
            continue
        if kept := _kept_by_callee(seen.file, function, names, seen.line):
            return history.site_at(seen.file, *kept)
        if handed := _handed_on(seen.file, seen.line, names):
            return history.site_at(seen.file, handed, seen.function)
        if function is None or not names:
            return site
        if stored := _stored(function, names, seen.line):
            return history.site_at(seen.file, stored, seen.function)
        if not _is_returned(function, names):
            return site
    return last


def put_away_by(history: History, op: Op, use: Op, by: Op) -> Site:
    """The line that puts the value into a container, where whoever takes it up for `by` does not know it by its name:
    `memory.append((obs, hidden))`, and later `state = memory[start][1]`."""
    made = history.sites.get(carried_by(history, op))
    user = history.sites.get(used_in(history, use, by))
    if made is None or user is None or made.file != user.file:
        return NOWHERE
    names, at = names_bound_at(made.file, made.line), stored_at(made.file, made.line)
    if not at or not names or names & words_at(user.file, user.line):
        return NOWHERE
    return history.site_at(made.file, at, made.function)


def _calls(file: str, line: int, function: str) -> bool:
    """Whether the statement calls the function; those that go by other names are taken to be called there."""
    statement = around(file, line)[1]
    if statement is None or function.startswith(("<", "__")) or function == "forward":
        return True
    return any(isinstance(node, ast.Call) and called_name(node) == function for node in ast.walk(statement))


def is_kept(history: History, op: Op) -> bool:
    """Whether the statement that made the value puts it into what an attribute holds: `self.kept[i] = x.abs()`."""
    seen = history.sites.get(op.site)
    statement = around(seen.file, seen.line)[1] if seen is not None else None
    if isinstance(statement, ast.Assign):
        return isinstance(statement.targets[0], ast.Subscript) and _is_of_attribute(statement.targets[0])
    container, _ = _put_into(statement)
    return container is not None and _is_of_attribute(container)


def _put_into(statement: ast.stmt | None) -> tuple[ast.expr | None, list[ast.expr]]:
    """`container.append(values)`: the container, and the values."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in STORING:
        return call.func.value, call.args
    return None, []


def emptied_in_vain(history: History, site: Site) -> Site:
    """What this line puts away stays there, though a function gives an empty list to a variable of the attribute's
    name: `log_probs = []` instead of `self.log_probs = []`. That is the line to change."""
    seen = history.sites.get(site)
    tree = tree_of(seen.file) if seen is not None else None
    if seen is None or tree is None:
        return NOWHERE
    container, _ = _put_into(around(seen.file, seen.line)[1])
    name = container.attr if isinstance(container, ast.Attribute) else ""
    emptied = {b.line for b in bindings(seen.file, name) if b.value in EMPTY}
    for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
        if at := emptied & _unread(function, name):
            return history.site_at(seen.file, min(at), function.name)
    return NOWHERE


def _unread(function: ast.FunctionDef, name: str) -> set[int]:
    """The lines that bind a variable of this name which nobody reads in this function, nor knows outside of it."""
    uses = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name]
    shared = any(isinstance(n, ast.Global | ast.Nonlocal) and name in n.names for n in ast.walk(function))
    read = any(isinstance(n.ctx, ast.Load) for n in uses)
    return set() if shared or read else {n.lineno for n in uses}


def _is_of_attribute(target: ast.expr) -> bool:
    while isinstance(target, ast.Subscript):
        target = target.value
    return isinstance(target, ast.Attribute)


def _handed_on(file: str, line: int, names: set[str]) -> int:
    """`before = loss`, behind everything in the loop that reads `before`: only the next round knows it by that name."""
    loops = loops_around(file, line)
    for statement in ast.walk(loops[-1]) if loops and names else ():
        if not isinstance(statement, ast.Assign) or statement.lineno <= line:
            continue
        if not isinstance(statement.value, ast.Name) or statement.value.id not in names:
            continue
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or target.id in names:
            continue
        uses = [n for n in ast.walk(loops[-1]) if isinstance(n, ast.Name) and n.id == target.id]
        reads = [n.lineno for n in uses if isinstance(n.ctx, ast.Load)]
        bound = [n.lineno for n in uses if isinstance(n.ctx, ast.Store)]
        if bound == [statement.lineno] and reads and max(reads) < statement.lineno:
            return statement.lineno
    return 0


def _stored(function: ast.FunctionDef, names: set[str], line: int) -> int:
    """The first line from this one on that puts one of the names into an attribute, or into what an attribute holds."""
    found = [n.lineno for n in ast.walk(function) if isinstance(n, ast.stmt) and _stores(n, names)]
    return min((at for at in found if at >= line), default=0)


def _stores(statement: ast.stmt, names: set[str]) -> bool:
    if isinstance(statement, ast.Assign):
        return _is_of_attribute(statement.targets[0]) and _holds(statement.value, names)
    container, values = _put_into(statement)
    return isinstance(container, ast.Attribute) and any(_holds(value, names) for value in values)


def _kept_by_callee(
    file: str, function: ast.FunctionDef | None, names: set[str], line: int
) -> tuple[int, str] | None:
    """`replay.add(made)`: the line in the one function of that name which puts what it is given into an attribute,
    and its name."""
    tree = tree_of(file)
    if tree is None or not names:
        return None
    for call in sorted(_calls_in(function or tree), key=lambda call: call.lineno):
        for place, value in enumerate(call.args if call.lineno >= line else ()):
            if _holds(value, names) and (kept := _keeps_argument(tree, called_name(call), place)):
                return kept
    return None


def _calls_in(scope: ast.AST) -> Iterator[ast.Call]:
    """Those in its own statements, not in functions that are made there."""
    for node in ast.iter_child_nodes(scope):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            if isinstance(node, ast.Call):
                yield node
            yield from _calls_in(node)


def _keeps_argument(tree: ast.AST, name: str, place: int) -> tuple[int, str] | None:
    found = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name]
    if len(found) != 1:
        return None
    given = [a.arg for a in found[0].args.args if a.arg != "self"]
    stored = _stored(found[0], {given[place]}, found[0].lineno) if place < len(given) else 0
    return (stored, name) if stored else None


def _holds(value: ast.expr | None, names: set[str]) -> bool:
    """Whether it is one of the names as it is, a display of them, or a choice that may fall on one."""
    if isinstance(value, ast.IfExp):
        return _holds(value.body, names) or _holds(value.orelse, names)
    if isinstance(value, ast.Tuple | ast.List):
        return any(_holds(part, names) for part in value.elts)
    return isinstance(value, ast.Name) and value.id in names


def _is_returned(function: ast.FunctionDef, names: set[str]) -> bool:
    return any(isinstance(n, ast.Return) and _holds(n.value, names) for n in ast.walk(function))
