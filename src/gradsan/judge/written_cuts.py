"""Where a loss was cut, by reading its source: for a backward that failed in an iteration that nobody traced."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from gradsan.judge.source import tree_of

LEAVING = {"detach", "item", "tolist", "numpy"}
MAKING = {"tensor", "as_tensor", "FloatTensor", "from_numpy", "float"}
OFF = {"no_grad", "inference_mode"}
FURTHEST = 6  # assignments from the loss


@functools.lru_cache(maxsize=64)
def written_cut(file: str, line: int) -> int:
    """The line of the cut that stands nearest to the loss which goes backward on this line; 0 where none is seen in
    the same function."""
    tree = tree_of(file)
    if tree is None:
        return 0
    scope = _scope(tree, line)
    here = (call for call in _calls(scope, "backward") if call.lineno <= line <= _end(call))
    loss = next((call.func.value for call in here if isinstance(call.func, ast.Attribute)), None)
    reached = [(loss, line)] if loss is not None else []
    for _ in range(FURTHEST):
        following: list[tuple[ast.expr, int]] = []
        for value, before in reached:
            if (found := _cut_in(value)) or (found := _switched_off(scope, value)):
                return found
            names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
            following += [made for name in sorted(names) if (made := _last(scope, name, before)) is not None]
        reached = following
    return 0


def _scope(tree: ast.Module, line: int) -> ast.AST:
    """The innermost function around the line, or the module."""
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.lineno <= line <= _end(n)]
    return max(functions, key=lambda n: n.lineno, default=tree)


def _end(node: ast.stmt | ast.expr) -> int:
    return node.end_lineno or node.lineno


def _calls(scope: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(scope):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name:
            yield node


def _last(scope: ast.AST, name: str, before: int) -> tuple[ast.expr, int] | None:
    """What was assigned to the name last above a line."""
    found = [
        (node.value, node.lineno)
        for node in ast.walk(scope)
        if isinstance(node, ast.Assign)
        and node.lineno < before
        and any(isinstance(t, ast.Name) and t.id == name for target in node.targets for t in ast.walk(target))
    ]
    return max(found, key=lambda made: made[1], default=None)


def _cut_in(value: ast.expr) -> int:
    for node in ast.walk(value):
        if isinstance(node, ast.Attribute) and (node.attr in LEAVING or node.attr == "data"):
            return _end(node.value)
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in MAKING and any(isinstance(n, ast.Name) for a in node.args for n in ast.walk(a)):
                return node.lineno
    return 0


def _switched_off(scope: ast.AST, value: ast.expr) -> int:
    """The `with torch.no_grad():` that this was computed in."""
    for block in ast.walk(scope):
        if isinstance(block, ast.With) and block.lineno <= value.lineno <= _end(block):
            words = {
                n.attr for i in block.items for n in ast.walk(i.context_expr) if isinstance(n, ast.Attribute)
            }
            if words & OFF:
                return block.lineno
    return 0
