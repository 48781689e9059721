"""The line that raises a discount to the power of the step: `rewards * gamma ** np.arange(len(rewards))`.

What NumPy or plain Python has computed passes no tap; where the rewards of single steps were found to be discounted,
and only one line that led there raises anything to a power that is not a plain number, that is the one."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from gradsan.judge.history import History
from gradsan.judge.lines.source import around, called_name, tree_of
from gradsan.record.events import Site

DEEP = 3  # functions that call each other
POWERS = {"pow", "power", "float_power"}
Function = ast.FunctionDef | ast.Module


def raised_at(history: History, made: Site, otherwise: Site) -> Site:
    """`made`: where the numbers were put together, or became a tensor."""
    seen = history.sites.get(made)
    found = _raising(seen.file, seen.line) if seen is not None else None
    return history.site_at(seen.file, *found) if seen is not None and found is not None else otherwise


@functools.lru_cache(maxsize=64)
def _raising(file: str, line: int) -> tuple[int, str] | None:
    tree = tree_of(file)
    if tree is None:
        return None
    function, _ = around(file, line)
    found: dict[int, str] = {}
    for part in _called_from(tree, function or tree):
        name = part.name if isinstance(part, ast.FunctionDef) else "<module>"
        found |= dict.fromkeys(_lines(part), name)
    return found.popitem() if len(found) == 1 else None


def _called_from(tree: ast.Module, function: Function) -> list[Function]:
    """The function itself, and those of the script that it calls."""
    own: dict[str, ast.FunctionDef] = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    found, newest = [function], [function]
    for _ in range(DEEP):
        calls = [n for part in newest for n in _statements(part) if isinstance(n, ast.Call)]
        called = [own[name] for call in calls if (name := called_name(call)) in own]
        newest = [part for part in dict.fromkeys(called) if part not in found]
        found += newest
    return found


def _statements(function: Function) -> Iterator[ast.AST]:
    """What runs with it: not what is only defined in it."""
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            stack.extend(ast.iter_child_nodes(node))


def _lines(function: Function) -> Iterator[int]:
    for node in _statements(function):
        power: ast.expr | None = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            power = node.right
        elif isinstance(node, ast.Call) and called_name(node) in POWERS and len(node.args) == 2:
            power = node.args[1]
        if isinstance(power, ast.expr) and not isinstance(power, ast.Constant | ast.UnaryOp):
            yield power.lineno
