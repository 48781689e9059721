"""Where the source freezes something: for a freeze that went by while nobody looked."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradsan.judge.lines.source import function_around, line_of, tree_of


def frozen_at(file: str, name: str) -> int:
    """The last line that freezes what the user calls `name`; a helper's caller, where it says what to do. 0 where
    there is none."""
    tree = tree_of(file)
    lines = set(_lines(tree)) if tree is not None else set()
    return max((line for line in lines if name in line_of(file, line)), default=0)


def thaws(file: str) -> bool:
    """Whether the source sets a `requires_grad` to anything but false anywhere: then a freeze may be for a while
    only."""
    tree = tree_of(file)
    flags = (_flag(node) for node in ast.walk(tree)) if tree is not None else iter(())
    return any(flag is not None and not _is_false(flag) for flag in flags)


def _lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        flag = _flag(node)
        if flag is not None and _is_false(flag):
            yield node.lineno  # type: ignore[attr-defined]
        elif isinstance(flag, ast.Name):
            function = function_around(tree, flag.lineno)
            yield from (call.lineno for call in _calls(tree, function) if _says_false(call))


def _is_false(flag: ast.expr) -> bool:
    return isinstance(flag, ast.Constant) and flag.value is False


def _flag(node: ast.AST) -> ast.expr | None:
    """What `requires_grad` is set to here."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        is_freeze = node.func.attr == "requires_grad_" and bool(node.args)
        return node.args[0] if is_freeze else None
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
        return node.value if node.targets[0].attr == "requires_grad" else None
    return None


def _calls(tree: ast.Module, function: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and function:
            called = node.func
            if function == (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")):
                yield node


def _says_false(call: ast.Call) -> bool:
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(isinstance(value, ast.Constant) and value.value is False for value in given)
