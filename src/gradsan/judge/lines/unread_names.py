"""Whether anybody can read what a line binds to a name: what follows, the next round of a loop, an inner function."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gradsan.judge.lines.source import around, tree_of
from gradsan.judge.report.cells import cell_of

LOOPS = ast.For | ast.AsyncFor
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
JUMPS = (ast.Break, ast.Continue)
FEWEST_COLUMNS = 4  # of a batch


class Spot(NamedTuple):
    """A statement in its block, and what the block belongs to."""

    block: Sequence[ast.stmt]
    at: int
    parent: ast.AST


@functools.lru_cache(maxsize=256)
def is_unread(file: str, line: int) -> bool:
    """`weight = weight - rate * grad` in a loop over the weights: the name is bound anew before anybody reads it."""
    _, statement = around(file, line)
    tree = tree_of(file)
    name = _bound_name(statement)
    if tree is None or not name or statement is None or name.startswith("_"):
        return False
    scope = _scope_of(tree, line)
    if isinstance(scope, ast.Module) and cell_of(file):
        return False  # the next cell may read it
    ways = _way(scope, statement)
    return bool(ways) and not _is_shared(scope, name) and not _reaches_a_reader(ways, name)


@functools.lru_cache(maxsize=256)
def unread_around(file: str, line: int) -> tuple[str, ...]:
    """The parameters of the function around this line, and the names that its statement binds or that a batch is
    unpacked into, which that function never mentions again."""
    tree, (_, statement) = tree_of(file), around(file, line)
    if tree is None or statement is None:
        return ()
    scope = _scope_of(tree, line)
    if isinstance(scope, ast.ClassDef) or (isinstance(scope, ast.Module) and cell_of(file)):
        return ()
    given = (
        [] if isinstance(scope, ast.Module) else [a.arg for a in (*scope.args.posonlyargs, *scope.args.args)]
    )
    bound = [
        n.id
        for target in (*getattr(statement, "targets", ()), *_unpacked(scope))
        for n in ast.walk(target)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]
    names = dict.fromkeys([*given, *bound])
    return tuple(
        n for n in names if not n.startswith("_") and n not in ("self", "cls") and not _reads(scope, n)
    )


def _unpacked(scope: ast.AST) -> Iterator[ast.expr]:
    """`obs, action, reward, next_obs, done = batch`."""
    for node in ast.walk(scope):
        targets = node.targets if isinstance(node, ast.Assign) else ()
        yield from (t for t in targets if isinstance(t, ast.Tuple) and len(t.elts) >= FEWEST_COLUMNS)


def _bound_name(statement: ast.stmt | None) -> str:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target: ast.expr = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        target = statement.target
    else:
        return ""
    return target.id if isinstance(target, ast.Name) else ""


def _scope_of(
    tree: ast.Module, line: int
) -> ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef:
    scopes = [
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and n.lineno <= line <= (n.end_lineno or 0)
    ]
    return scopes[-1] if scopes else tree


def _is_shared(scope: ast.AST, name: str) -> bool:
    """Known outside of its function, or read by a function inside."""
    if isinstance(scope, ast.ClassDef):
        return True  # an attribute
    inner = [n for n in ast.walk(scope) if n is not scope and isinstance(n, FUNCTIONS)]
    declared = any(isinstance(n, ast.Global | ast.Nonlocal) and name in n.names for n in ast.walk(scope))
    return declared or any(_reads(function, name) and not _binds(function, name) for function in inner)


def _binds(function: ast.AST, name: str) -> bool:
    given = {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)}
    return name in given or any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(function)
    )


def _way(scope: ast.AST, statement: ast.stmt) -> list[Spot]:
    """From the outermost statement of the scope down to this one."""
    for block, parent in _blocks(scope):
        for index, inside in enumerate(block):
            if inside is statement:
                return [Spot(block, index, parent)]
            if deeper := _way(inside, statement):
                return [Spot(block, index, parent), *deeper]
    return []


def _blocks(node: ast.AST) -> Iterator[tuple[Sequence[ast.stmt], ast.AST]]:
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list):
            yield block, node
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield from _blocks(part)


def _reaches_a_reader(ways: list[Spot], name: str) -> bool:
    for block, at, parent in reversed(ways):
        read, bound = _follow(block[at + 1 :], name)
        if read or bound:
            return read
        if isinstance(parent, ast.While) and _reads(parent.test, name):
            return True
        again = isinstance(parent, ast.While) or (
            isinstance(parent, LOOPS) and not _stores(parent.target, name)
        )
        if again and _follow(block[: at + 1], name)[0]:
            return True
        if isinstance(parent, ast.While | LOOPS | ast.Try) and any(_reads(s, name) for s in _beside(parent)):
            return True
    return False


def _beside(parent: ast.AST) -> Iterator[ast.stmt]:
    """What may run after a block of a loop or a `try`: the other blocks."""
    for block, owner in _blocks(parent):
        if owner is not parent or block is not getattr(parent, "body", None):
            yield from block


def _follow(statements: Sequence[ast.stmt], name: str) -> tuple[bool, bool]:
    """Whether somebody reads the name here, or else whether it is bound anew for certain."""
    certain = True
    for statement in statements:
        if _reads(statement, name):
            return True, False
        if certain and _bound_name(statement) == name:
            return False, True
        certain = certain and not any(isinstance(n, JUMPS) for n in ast.walk(statement))
    return False, False


def _reads(node: ast.AST, name: str) -> bool:
    """`name += 1` reads it as well; so does whoever asks for all names."""
    return any(
        (isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load))
        or (isinstance(n, ast.AugAssign) and _stores(n.target, name))
        or (isinstance(n, ast.Name) and n.id in ("locals", "vars", "globals", "eval", "exec"))
        for n in ast.walk(node)
    )


def _stores(target: ast.expr, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(target))
