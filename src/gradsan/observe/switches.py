"""Looking in the user's source for the line that switched gradients off, where nobody saw it run."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterator

from gradsan.observe.sites import Sites
from gradsan.record.events import NOWHERE, Site

SWITCH = "set_grad_enabled"


def found_switch(sites: Sites) -> Site:
    """The one statement `torch.set_grad_enabled(…)` in the user's code, unless it switches gradients on.
    As a statement it stays in force; where there are several, no one can tell which."""
    found = [(file, line, function) for file in _user_files(sites) for line, function in _switches(file)]
    return sites.at(*found[0]) if len(found) == 1 else NOWHERE


def _user_files(sites: Sites) -> list[str]:
    loaded = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    files = {*sites.user_files(), *(file for file in loaded if file and sites.is_user_file(file))}
    return sorted(file for file in files if not file.endswith((".so", ".pyc")))


def _switches(file: str) -> list[tuple[int, str]]:
    source = "".join(linecache.getlines(file))
    if SWITCH not in source:
        return []
    statements = _statements(ast.parse(source), "<module>")
    return [(node.lineno, function) for function, node in statements if _switches_off(node.value)]


def _switches_off(call: ast.expr) -> bool:
    if not isinstance(call, ast.Call) or not ast.unparse(call.func).endswith(SWITCH):
        return False
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return not any(isinstance(value, ast.Constant) and value.value for value in given)


def _statements(tree: ast.AST, function: str) -> Iterator[tuple[str, ast.Expr]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Expr):
            yield function, node
        inside = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else function
        yield from _statements(node, inside)
