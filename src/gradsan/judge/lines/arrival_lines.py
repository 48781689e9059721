"""Where a number came from that was computed outside of torch: the line that assigned what `torch.tensor(y)` is given.

A NumPy array passes no tap, so the line on which it arrives is all that was seen. Where that line names one variable,
the source says which line of the same function made it; lines that only rescale it are passed over."""

from __future__ import annotations

import ast
import functools

from gradsan.judge.history import History
from gradsan.judge.lines.source import names_in, tree_of
from gradsan.record.events import Op, Site, ValueId

ARRIVING = {
    "tensor", "as_tensor", "asarray", "from_numpy", "new_tensor", "FloatTensor", "Tensor", "DoubleTensor",
}  # fmt: skip
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module


def made_at(history: History, op: Op) -> Site:
    """The line that made what arrives by this operation; its own, where that cannot be told."""
    seen = history.sites.get(op.site)
    if seen is None or not (calls := _calls(seen.file, seen.line)):
        return op.site
    name = calls[place_on_line(history, op) % len(calls)]
    line = _line(seen.file, seen.line, name) if name else seen.line
    return history.site_at(seen.file, line, seen.function) if line != seen.line else op.site


def place_on_line(history: History, op: Op) -> int:
    """How many values were made on this line just before."""
    before = 0
    while (other := history.graph.get(ValueId(op.nid - before - 1))) is not None and other.site == op.site:
        before += 1
    return before


@functools.lru_cache(maxsize=256)
def _calls(file: str, line: int) -> list[str]:
    """What each call on this line makes a tensor of, from left to right: the name of a variable, or nothing."""
    tree = tree_of(file)
    found = (
        [n for n in ast.walk(tree) if isinstance(n, ast.Call) and _spans(n, line)] if tree is not None else []
    )
    arriving = [call for call in found if _called(call) in ARRIVING and call.args]
    return [_given(call) for call in sorted(arriving, key=lambda call: (call.lineno, call.col_offset))]


@functools.lru_cache(maxsize=256)
def _line(file: str, line: int, name: str) -> int:
    tree = tree_of(file)
    found = _assignments(_around(tree, line), name, line) if tree is not None else []
    for assignment in reversed(found):
        if name not in names_in(assignment.value):
            return assignment.lineno
    return found[0].lineno if found else line


def given_at(file: str, line: int) -> ast.expr | None:
    """What the only call on this line that makes a tensor is given."""
    tree = tree_of(file)
    found = (
        [n for n in ast.walk(tree) if isinstance(n, ast.Call) and _spans(n, line)] if tree is not None else []
    )
    arriving = [call for call in found if _called(call) in ARRIVING and call.args]
    return arriving[0].args[0] if len(arriving) == 1 else None


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _given(call: ast.Call) -> str:
    return call.args[0].id if isinstance(call.args[0], ast.Name) else ""


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
