"""Where a number came from that was computed outside of torch: the line that assigned what `torch.tensor(y)` is given.

A NumPy array passes no tap, so the line on which it arrives is all that was seen. Where that line names one variable,
the source says which line of the same function made it; lines that only rescale it are passed over."""

from __future__ import annotations

import ast
import functools

from gradsan.judge.history import History
from gradsan.judge.source import tree_of
from gradsan.record.events import Site

ARRIVING = {"tensor", "as_tensor", "asarray", "from_numpy", "FloatTensor", "Tensor", "DoubleTensor"}
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module


def made_at(history: History, site: Site) -> Site:
    """The line that made what arrives on this one; itself, where that cannot be told."""
    seen = history.sites.get(site)
    if seen is None or (line := _line(seen.file, seen.line)) == seen.line:
        return site
    return history.site_at(seen.file, line, seen.function)


@functools.lru_cache(maxsize=256)
def _line(file: str, line: int) -> int:
    tree = tree_of(file)
    if tree is None:
        return line
    names = {name for call in ast.walk(tree) if (name := _given(call)) and _spans(call, line)}
    found = _assignments(_around(tree, line), names.pop(), line) if len(names) == 1 else []
    for assignment in reversed(found):
        name = _name_of(assignment.targets[0])
        if name not in {n.id for n in ast.walk(assignment.value) if isinstance(n, ast.Name)}:
            return assignment.lineno
    return line


def _given(node: ast.AST) -> str:
    """The variable that a tensor is made of."""
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name):
        function = node.func
        called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        return node.args[0].id if called in ARRIVING else ""
    return ""


def _spans(node: ast.AST, line: int) -> bool:
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    return bool(first <= line <= (last or first))


def _around(tree: ast.Module, line: int) -> Function:
    inner: Function = tree
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _spans(node, line):
            inner = node
    return inner


def _assignments(within: Function, name: str, before: int) -> list[ast.Assign]:
    found = [n for n in ast.walk(within) if isinstance(n, ast.Assign) and n.lineno < before]
    return sorted((n for n in found if _name_of(n.targets[0]) == name), key=lambda n: n.lineno)


def _name_of(target: ast.expr) -> str:
    return target.id if isinstance(target, ast.Name) else ""
