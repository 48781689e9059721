"""GS809: a target network is loaded from its own state dict, or mixed with its own parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradsan.lint.mistake import Mistake, Node
from gradsan.lint.names import dotted
from gradsan.lint.scopes import Scope
from gradsan.lint.source_file import SourceFile

TARGETS = ("target", "tgt")
WRITES = ("copy_", "lerp_", "mul_", "add_")


def check(file: SourceFile) -> Iterator[Mistake]:
    for scope in file.scopes:
        for node in scope.nodes:
            if isinstance(node, ast.Call) and (target := _loaded_from_itself(node)):
                yield _mistake(scope, node, target)
            elif isinstance(node, ast.For) and (target := _mixed_with_itself(node)):
                yield _mistake(scope, node.iter, target)


def _mistake(scope: Scope, sync: Node, target: str) -> Mistake:
    message = f"this loads `{target}` from itself: it stays as it was, and never follows the network"
    return Mistake("GS809", scope, sync, message, (("sync", sync),))


def _is_target(name: str) -> bool:
    return any(word in name.lower() for word in TARGETS)


def _loaded_from_itself(call: ast.Call) -> str:
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "load_state_dict" or not call.args:
        return ""
    target, given = dotted(call.func.value), call.args[0]
    while isinstance(given, ast.Call) and dotted(given.func).endswith(("deepcopy", "copy")) and given.args:
        given = given.args[0]
    return target if target and _of(given, "state_dict") == target and _is_target(target) else ""


def _mixed_with_itself(loop: ast.For) -> str:
    """`for t, p in zip(target.parameters(), target.parameters())` with a write in it."""
    if not isinstance(loop.iter, ast.Call) or dotted(loop.iter.func) != "zip" or len(loop.iter.args) != 2:
        return ""
    one, other = (_of(given, "parameters") for given in loop.iter.args)
    writes = any(
        isinstance(n, ast.Attribute) and n.attr in WRITES for part in loop.body for n in ast.walk(part)
    )
    return one if one and one == other and writes and _is_target(one) else ""


def _of(given: ast.expr, method: str) -> str:
    """`net` of `net.state_dict()`; empty for anything else."""
    if not isinstance(given, ast.Call) or not isinstance(given.func, ast.Attribute):
        return ""
    return dotted(given.func.value) if given.func.attr == method else ""
