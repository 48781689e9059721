"""Values that are compared with themselves under a second name: what was kept to be compared with is no copy, and was
written in place together with what it is compared with."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.flow import TAKEN_OUT
from gradsan.judge.lines.source import around, bindings, tree_of
from gradsan.judge.provenance import Provenance
from gradsan.record.events import NOWHERE, Op, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History

COMPARING = {"sub": ast.Sub, "div": ast.Div}
HANDED_ON = (TAKEN_OUT & {"detach", "data"}) | {"alias"}


class Itself(NamedTuple):
    """`op` compares `value` with itself; in the source the two are called this."""

    op: Op
    value: Op
    names: tuple[str, str]


def compared_with_itself(history: History, op: Op) -> Itself | None:
    """`old - new` of one and the same memory. A value beside its own constant passes a gradient on, and is meant."""
    graph = history.graph
    sides = list(graph.inputs(op)) if op.name in COMPARING and not op.live and op.site else []
    if len(sides) != 2 or len(op.inputs) != 2:
        return None
    one, other = (_memory(graph, side) for side in sides)
    if one.nid != other.nid:
        return None
    names = _operands(history, op)
    return Itself(op, one, names) if names is not None else None


def _memory(graph: Provenance, op: Op) -> Op:
    """The value itself: behind names for the same memory, the last that was written there."""
    while op.name in HANDED_ON and (source := max(graph.inputs(op), key=lambda o: o.nid, default=None)):
        op = source
    return op


def _operands(history: History, op: Op) -> tuple[str, str] | None:
    """What the one difference (or quotient) on this line is made of, where those are two different names."""
    seen = history.sites.get(op.site)
    statement = around(seen.file, seen.line)[1] if seen is not None else None
    kind = COMPARING[op.name]
    found = {
        (_named(n.left), _named(n.right))
        for n in (ast.walk(statement) if statement is not None else ())
        if isinstance(n, ast.BinOp) and isinstance(n.op, kind)
    }
    one, other = found.pop() if len(found) == 1 else ("", "")
    return (one, other) if one and other and one != other else None


def _named(node: ast.expr) -> str:
    """A variable or an attribute, as it is written; without `.data` and `.detach()`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "detach":
        node = node.func.value
    if isinstance(node, ast.Attribute) and node.attr == "data":
        node = node.value
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""


def written_in_place(history: History, found: Itself) -> Site:
    """The line of the same function that writes one of the two in place, before they are compared."""
    seen = history.sites[found.op.site]
    function = around(seen.file, seen.line)[0] or tree_of(seen.file)
    writes = [n.lineno for n in _writes(function, set(found.names)) if n.lineno < seen.line]
    return history.site_at(seen.file, max(writes), seen.function) if writes else NOWHERE


def _writes(scope: ast.AST | None, names: set[str]) -> Iterator[ast.Call]:
    for node in ast.walk(scope) if scope is not None else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            in_place = node.func.attr.endswith("_") and not node.func.attr.startswith("_")
            if in_place and ast.unparse(node.func.value) in names:
                yield node


def second_name(history: History, found: Itself) -> Site:
    """The line of the same function that gives one of the two its name, without making anything new."""
    seen = history.sites[found.op.site]
    inner = around(seen.file, seen.line)[0]
    for name in found.names:
        plain = [b for b in bindings(seen.file, name) if b.handed and b.line < seen.line]
        own = [b for b in plain if around(seen.file, b.line)[0] is inner]
        if own:
            return history.site_at(seen.file, own[-1].line, seen.function)
    return NOWHERE
