"""Where a script puts something into the container of a name."""

from __future__ import annotations

import ast
import functools

from gradsan.judge.source import STORING, called_name, tree_of


@functools.lru_cache(maxsize=64)
def put_into(file: str, name: str) -> tuple[int, ...]:
    """The lines that put something into `name`, `self.name` or a part of it: `self.seen[layer].append(output)`."""
    tree = tree_of(file)
    nodes = ast.walk(tree) if tree is not None else ()
    receivers = [into for node in nodes if (into := _receiver(node)) is not None]
    return tuple(into.lineno for into in receivers if _speaks_of(into, name))


def _receiver(node: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and called_name(node) in STORING:
        return node.func.value
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    return target.value if isinstance(target, ast.Subscript) else None


def _speaks_of(into: ast.expr, name: str) -> bool:
    while isinstance(into, ast.Subscript):
        into = into.value
    return name == (into.attr if isinstance(into, ast.Attribute) else getattr(into, "id", ""))
