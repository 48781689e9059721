"""GS201, GS202: tensors with a graph are copied by `torch.tensor`, and the copy is what backward is called on, or a
term of it that is constant."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradsan.lint.live import is_constant, is_live
from gradsan.lint.mistake import Mistake, code
from gradsan.lint.names import dotted
from gradsan.lint.scopes import Scope
from gradsan.lint.source_file import SourceFile

COPIES = ("torch.tensor", "torch.as_tensor", "torch.FloatTensor", "torch.Tensor")
OF_ALL = {"sum", "mean", "to", "float", "cuda", "squeeze", "view", "reshape", "cumsum", "flip"}


def check(file: SourceFile) -> Iterator[Mistake]:
    for scope in file.scopes:
        for call in scope.calls():
            if file.called(call) not in COPIES or not call.args or scope.is_without_grad(call):
                continue
            stored = _stored(file, scope, call.args[0]) or _revived(file, scope, call)
            if stored is None:
                continue
            for loss in _losses(scope, call):
                if mistake := _judge(file, scope, call, stored, loss):
                    yield mistake
                    break


def _stored(file: SourceFile, scope: Scope, given: ast.expr) -> ast.expr | None:
    """A tensor with a graph among what is copied: an element, or what the only line that fills the list puts there."""
    if isinstance(given, ast.ListComp) and len(given.generators) == 1:
        element = given.elt
        if isinstance(element, ast.Call) and dotted(element.func) == "float" and element.args:
            element = element.args[0]
        is_same = dotted(element) and dotted(element) == dotted(given.generators[0].target)
        if not is_same:
            return element if is_live(file, scope, element) else None
        given = given.generators[0].iter
    if isinstance(given, ast.List | ast.Tuple):
        return next((element for element in given.elts if is_live(file, scope, element)), None)
    name = dotted(given)
    stores = [c for c in scope.calls() if name and dotted(c.func) in (f"{name}.append", f"{name}.insert")]
    if len(stores) != 1 or not stores[0].args or scope.is_without_grad(stores[0]):
        return None
    return stores[0] if is_live(file, scope, stores[0].args[-1]) else None


def _revived(file: SourceFile, scope: Scope, call: ast.Call) -> ast.expr | None:
    """Whatever a list was filled with: a copy that is made to require grad is a leaf of its own. Where an optimizer
    steps, and nobody reads the `.grad` of the copy, what backward gives it is lost."""
    asked = [k.value for k in call.keywords if k.arg == "requires_grad"]
    if not any(isinstance(value, ast.Constant) and value.value is True for value in asked):
        return None
    attributes = {node.attr for node in scope.all_nodes() if isinstance(node, ast.Attribute)}
    name = dotted(call.args[0])
    stores = [c for c in scope.calls() if name and dotted(c.func) == f"{name}.append"]
    is_training = "step" in attributes and "grad" not in attributes
    is_owned = any(file.is_optimizer(c) for c in scope.calls())
    return stores[0] if stores and is_training and not is_owned else None


def _losses(scope: Scope, call: ast.Call) -> Iterator[ast.expr]:
    """What backward is called on, after the copy: expressions, or what their names are bound to."""
    for node in scope.nodes:
        is_method = (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "backward"
        )
        if is_method and node.lineno >= call.lineno:  # type: ignore[attr-defined]
            loss = node.func.value  # type: ignore[attr-defined]
            values = scope.bindings.get(loss.id, []) if isinstance(loss, ast.Name) else [loss]
            yield from (value for value in values if value is not None)


def _judge(
    file: SourceFile, scope: Scope, call: ast.Call, stored: ast.expr, loss: ast.expr
) -> Mistake | None:
    names = {
        n for n, values in scope.bindings.items() if any(v is not None and _is_copy(v, call) for v in values)
    }
    if _is_the_copy(file, scope, loss, call, names):
        return _mistake("GS201", scope, call, stored, loss)
    for node in ast.walk(loss):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for copy, other in ((node.left, node.right), (node.right, node.left)):
                if _is_the_copy(file, scope, copy, call, names) and is_constant(file, scope, other):
                    return _mistake("GS202", scope, call, stored, node)
    return None


def _is_copy(value: ast.expr, call: ast.Call) -> bool:
    """The copy, as it is or moved about by methods."""
    moved: ast.expr = value
    while isinstance(moved, ast.Call) and moved is not call and isinstance(moved.func, ast.Attribute):
        moved = moved.func.value
    return moved is call


def _is_the_copy(file: SourceFile, scope: Scope, node: ast.expr, call: ast.Call, names: set[str]) -> bool:
    """The copy itself, with another sign, summed up, or weighed by something constant: nothing else is in it."""
    if _is_name_of(node, call, names):
        return True
    if isinstance(node, ast.UnaryOp):
        return _is_the_copy(file, scope, node.operand, call, names)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        return any(
            is_constant(file, scope, other) and _is_the_copy(file, scope, one, call, names)
            for one, other in ((node.left, node.right), (node.right, node.left))
        )
    inner = _summed(file, node)
    return inner is not None and _is_the_copy(file, scope, inner, call, names)


def _summed(file: SourceFile, node: ast.expr) -> ast.expr | None:
    """`x` of `x.sum()` and of `torch.sum(x)`, and of what only moves it."""
    if (
        not isinstance(node, ast.Call)
        or not isinstance(node.func, ast.Attribute)
        or node.func.attr not in OF_ALL
    ):
        return None
    if file.called(node):
        return node.args[0] if node.args and file.called(node) in ("torch.sum", "torch.mean") else None
    return node.func.value


def _is_name_of(node: ast.expr, call: ast.Call, names: set[str]) -> bool:
    return node is call or (isinstance(node, ast.Name) and node.id in names)


def _mistake(rule: str, scope: Scope, call: ast.Call, stored: ast.expr, what: ast.expr) -> Mistake:
    left = "nothing in it leads to a parameter" if rule == "GS201" else "that term of the loss trains nothing"
    return Mistake(
        rule,
        scope,
        call,
        f"`{code(call.func)}` copies numbers and leaves their graph behind: `{code(what)}` is a constant, and {left}",
        (("created", stored), ("cut", call), ("loss", what)),
    )
