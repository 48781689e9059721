"""The line that set up a module: `torch.nn.Softmax(dim=0)` says the axis where it is made, not where it is called."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradsan.judge.lines.source import around, called_name, tree_of
from gradsan.record.events import Op, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History

AXIS = "dim"
MADE_BY = {
    "softmax": ("Softmax", "Softmin"),
    "log_softmax": ("LogSoftmax",),
    "cosine_similarity": ("CosineSimilarity",),
}
FUNCTIONS = {"softmax", "softmin", "log_softmax", "cosine_similarity"}


def axis_set_at(history: History, op: Op) -> Site:
    """Where the axis of this operation was chosen: its own line, unless that calls a module and the file makes just
    one that runs along this axis, or just one in the class around."""
    seen = history.sites.get(op.site)
    tree = tree_of(seen.file) if seen is not None else None
    if seen is None or tree is None or _says_itself(seen.file, seen.line):
        return op.site
    made = [
        call for call in _calls(tree) if called_name(call) in MADE_BY.get(op.name, ()) and _fits(call, op)
    ]
    own = [call for call in made if _class_around(tree, call.lineno) is _class_around(tree, seen.line)]
    lines = {call.lineno for call in own} or {call.lineno for call in made}
    if len(lines) != 1:
        return op.site
    at = lines.pop()
    function, _ = around(seen.file, at)
    return history.site_at(seen.file, at, function.name if function is not None else "<module>")


def _says_itself(file: str, line: int) -> bool:
    """`F.softmax(x, 0)`, `x.softmax(0)`; `self.softmax(x)` is a module."""
    statement = around(file, line)[1]
    return statement is None or any(
        called_name(call) in FUNCTIONS and not _is_own(call.func) for call in _calls(statement)
    )


def _is_own(called: ast.expr) -> bool:
    return (
        isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "self"
    )


def _calls(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def _fits(call: ast.Call, op: Op) -> bool:
    """Whether a module with these arguments may have run along this axis."""
    given = next((k.value for k in call.keywords if k.arg == AXIS), call.args[0] if call.args else None)
    if given is None:  # PyTorch chooses
        return True
    try:
        axis = ast.literal_eval(given)
    except ValueError:
        return True
    return isinstance(axis, int) and axis % max(len(op.shape), 1) in op.facts.axes


def _class_around(tree: ast.AST, line: int) -> ast.ClassDef | None:
    found = None
    for node in ast.walk(tree):  # outer ones come first
        if isinstance(node, ast.ClassDef) and node.lineno <= line <= (node.end_lineno or line):
            found = node
    return found
