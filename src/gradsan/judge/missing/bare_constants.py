"""A constant that a branch hands on in the loss's place, where there is nothing to average: `else torch.tensor(0.0)`.

The backward has worked on other batches, so nothing that always stands on the way has cut it. The source is followed
from the loss to its assignments and into the functions of the same file that they call; only one
that stands alone is named.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradsan.judge.lines.read_cuts import SourcePlace, followed, loss_of
from gradsan.judge.lines.source import around, called_name, function_at, tree_of
from gradsan.record.events import NOWHERE, Backward, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History

EXPRESSIONS = 24
MAKERS = {"tensor", "zeros", "zeros_like", "new_zeros", "new_tensor", "scalar_tensor", "as_tensor"}


def bare_constant(history: History, event: Backward) -> Site:
    worked = any(c.site == event.site and c.event.fed for c in history.ledger.recent.values())
    loss = loss_of(history, event) if worked else None
    behind = followed(loss, _made_of, EXPRESSIONS) if loss is not None else ()
    found = {(place.file, constant.lineno) for place in behind for constant in _constants(place)}
    if len(found) != 1:
        return NOWHERE
    file, line = found.pop()
    return history.site_at(file, line, function_at(file, line))


def _made_of(place: SourcePlace) -> Iterator[SourcePlace]:
    """What an expression may be made of: every assignment before, every `return` of what is called."""
    for part in _summands(place.expression):
        if isinstance(part, ast.Name):
            yield from _assigned(place, part.id)
        elif isinstance(part, ast.Call):
            yield from _returned(place.file, called_name(part))


def _summands(value: ast.expr) -> Iterator[ast.expr]:
    """What is as constant as its parts: sums, scaled or not, and either side of a choice."""
    if isinstance(value, ast.BinOp):
        yield from _summands(value.left)
        yield from _summands(value.right)
    elif isinstance(value, ast.IfExp):
        yield from _summands(value.body)
        yield from _summands(value.orelse)
    elif isinstance(value, ast.UnaryOp):
        yield from _summands(value.operand)
    else:
        yield value


def _constants(place: SourcePlace) -> Iterator[ast.expr]:
    """Those that stand for the whole of the value, not for a factor or a summand of it."""
    whole = [place.expression]
    while whole:
        value = whole.pop()
        if isinstance(value, ast.IfExp):
            whole += [value.body, value.orelse]
        elif isinstance(value, ast.Call) and called_name(value) in MAKERS and _is_number(value):
            yield value


def _is_number(made: ast.Call) -> bool:
    """`torch.tensor(0.0)`, of a number that is written there; `torch.zeros(…)` is one of whatever shape."""
    if called_name(made) not in ("tensor", "new_tensor", "scalar_tensor", "as_tensor"):
        return True
    return bool(made.args) and isinstance(made.args[0], ast.Constant)


def _assigned(place: SourcePlace, name: str) -> list[SourcePlace]:
    scope: ast.AST | None = around(place.file, place.line)[0] or tree_of(place.file)
    return [
        SourcePlace(place.file, node.lineno, node.value)
        for node in (ast.walk(scope) if scope is not None else ())
        if isinstance(node, ast.Assign | ast.AugAssign) and node.lineno <= place.line and _binds(node, name)
    ]


def _binds(node: ast.Assign | ast.AugAssign, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def _returned(file: str, name: str) -> list[SourcePlace]:
    """What the one function of this name in the file returns; nothing where it has a namesake."""
    tree = tree_of(file)
    functions = (
        [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name] if tree else []
    )
    if len(functions) != 1:
        return []
    own = [n for n in ast.walk(functions[0]) if isinstance(n, ast.Return) and n.value is not None]
    return [SourcePlace(file, n.lineno, n.value) for n in own if n.value is not None]
