"""A gradient that was changed, or weights that were computed with one, in a tensor that nobody can reach any more."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gradsan.judge.lines.source import around
from gradsan.judge.lines.unread_names import is_unread
from gradsan.record.events import NOBODY, Op, ParamId

if TYPE_CHECKING:
    from gradsan.judge.history import History

# What keeps every element in its place, and changes it.
CHANGING = {
    "add", "sub", "rsub", "mul", "div", "neg", "clamp", "clip", "sign", "where", "lerp", "addcmul", "addcdiv",
    "nan_to_num", "minimum", "maximum", "subtract", "multiply", "divide",
}  # fmt: skip
PASSING = {"clone", "detach", "data", "alias", "float", "double", "cpu", "to"}
REACH = 64  # operations back to the gradient


def changed_gradient(history: History, op: Op) -> ParamId:
    """The parameter whose gradient this result is a changed version of, or whose weights, moved by a gradient."""
    if op.kind != "operation" or op.name not in CHANGING:
        return NOBODY
    stack, seen = [op], {op.nid}
    while stack and len(seen) < REACH:
        for source in history.graph.inputs(stack.pop()):
            if source.nid in seen or source.shape != op.shape:
                continue
            if source.kind == "gradient read":
                return source.facts.pid
            seen.add(source.nid)
            if source.kind == "operation" and source.name in CHANGING | PASSING:
                stack.append(source)
    return NOBODY


def goes_nowhere(history: History, op: Op) -> bool:
    """No operation has taken it, and the source says that none can: it is bound to a name that is never read, or it
    is a whole statement."""
    seen = history.sites.get(op.site)
    if seen is None or history.graph.consumers.get(op.nid):
        return False
    return _is_dropped(seen.file, seen.line, op.name) or is_unread(seen.file, seen.line)


def are_weights(history: History, op: Op, pid: ParamId) -> bool:
    return any(i.kind == "parameter" and i.facts.pid == pid for i in history.graph.inputs(op))


def _is_dropped(file: str, line: int, name: str) -> bool:
    """`p.grad.mul(0.5)` as a statement, without the underscore."""
    _, statement = around(file, line)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    return call.func.attr == name and not any(keyword.arg == "out" for keyword in call.keywords)
