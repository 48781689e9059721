"""GS602: the logarithm of a softmax, and a softmax where logits belong."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradsan.lint.mistake import Mistake, Node, line
from gradsan.lint.names import argument, dotted
from gradsan.lint.scopes import Binding, Scope
from gradsan.lint.source_file import SAME_MODULE, SourceFile

SOFTMAX = ("torch.softmax", "torch.nn.functional.softmax", "torch.special.softmax")
LOG = ("torch.log", "torch.special.log")
WITH_LOGITS = (
    "Categorical",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Multinomial",
    "RelaxedOneHotCategorical",
)
# They move values about and leave them as they are.
MOVING = {
    "gather",
    "squeeze",
    "unsqueeze",
    "view",
    "reshape",
    "transpose",
    "permute",
    "flatten",
    "contiguous",
    "index_select",
}
CROSS_ENTROPY = "torch.nn.functional.cross_entropy"


def check(file: SourceFile) -> Iterator[Mistake]:
    for scope in file.scopes:
        for call in scope.calls():
            if scope.is_without_grad(call):
                continue
            if (inner := _logged(file, call)) is not None and (softmax := _softmax(file, scope, inner)):
                yield _mistake(scope, call, softmax, "the logarithm of a softmax underflows")
            elif (logits := _logits(file, scope, call)) is not None and (
                softmax := _softmax(file, scope, logits)
            ):
                yield _mistake(scope, call, softmax, "a softmax output is used as logits")


def _mistake(scope: Scope, call: ast.Call, softmax: Node, what: str) -> Mistake:
    if softmax.lineno == call.lineno:
        return Mistake("GS602", scope, call, what)
    sites = (("softmax", softmax), ("log or distribution", call))
    return Mistake("GS602", scope, call, f"{what} (softmax on {line(softmax)})", sites)


def _logged(file: SourceFile, call: ast.Call) -> ast.expr | None:
    """What a call takes the logarithm of."""
    if file.called(call) in LOG:
        return argument(call, 0, "input")
    is_method = (
        isinstance(call.func, ast.Attribute) and call.func.attr == "log" and not (call.args or call.keywords)
    )
    return call.func.value if is_method and not file.called(call) else None  # type: ignore[attr-defined]


def _logits(file: SourceFile, scope: Scope, call: ast.Call) -> ast.expr | None:
    """What a call takes as logits, by the name of its parameter or because it is a cross-entropy."""
    full = file.called(call)
    if full == CROSS_ENTROPY:
        return argument(call, 0, "input")
    if full.startswith("torch.distributions.") and full.rpartition(".")[2] in WITH_LOGITS:
        return next((k.value for k in call.keywords if k.arg == "logits"), None)
    made = [call.func] if isinstance(call.func, ast.Call) else file.bindings(scope, dotted(call.func) or "?")
    if made and all(
        value is not None and file.called(value) == "torch.nn.CrossEntropyLoss" for value in made
    ):
        return argument(call, 0, "input")
    return None


def _softmax(
    file: SourceFile, scope: Scope, node: Binding, through_names: int = 2, depth: int = 3
) -> Node | None:
    """The softmax whose output this is, as it is or only moved about."""
    if isinstance(node, ast.Subscript):
        return _softmax(file, scope, node.value, through_names, depth)
    if isinstance(node, ast.Name):
        values = scope.bindings.get(node.id, [])
        if not through_names or len(values) != 1 or _is_written(scope, node.id):
            return None
        return _softmax(file, scope, values[0], through_names - 1, depth)
    if not isinstance(node, ast.Call) or scope.is_without_grad(node):
        return None
    if file.called(node) in SOFTMAX or _is_softmax_module(file, scope, node.func, depth):
        return node
    if isinstance(node.func, ast.Attribute) and not file.called(node):
        if node.func.attr == "softmax" and _gives_an_axis(node):
            return node
        return (
            _softmax(file, scope, node.func.value, through_names, depth) if node.func.attr in MOVING else None
        )
    return None


def _gives_an_axis(call: ast.Call) -> bool:
    """`x.softmax(-1)`, and not the function of some library that is given the values."""
    given = [*call.args, *(k.value for k in call.keywords if k.arg == "dim")]
    values = [g.operand if isinstance(g, ast.UnaryOp) else g for g in given[:1]]
    by_number = all(isinstance(value, ast.Constant) and isinstance(value.value, int) for value in values)
    return bool(given) and (by_number or not call.args)


def _is_softmax_module(file: SourceFile, scope: Scope, function: ast.expr, depth: int = 3) -> bool:
    """`nn.Softmax(-1)` itself, a `Sequential` that ends in one, or a network of this file whose forward does; here or
    where its name was bound."""
    if not depth:
        return False
    if dotted(function) == "self" and scope.owner is not None:
        return _ends_in_softmax(file, scope.owner.name, depth)
    while (
        isinstance(function, ast.Call)
        and isinstance(function.func, ast.Attribute)
        and function.func.attr in SAME_MODULE
    ):
        function = function.func.value
    if isinstance(function, ast.Call):
        full = file.called(function)
        if full == "torch.nn.Sequential" and function.args:
            return _is_softmax_module(file, scope, function.args[-1], depth)
        return full == "torch.nn.Softmax" or _ends_in_softmax(file, dotted(function.func), depth)
    values = file.bindings(scope, dotted(function) or "?")
    return bool(values) and all(
        isinstance(v, ast.Call) and _is_softmax_module(file, scope, v, depth - 1) for v in values
    )


def _ends_in_softmax(file: SourceFile, name: str, depth: int) -> bool:
    """A class of this file whose forward returns the output of a softmax, wherever it returns."""
    forward = [s for s in file.scopes if s.owner is not None and s.owner.name == name and s.name == "forward"]
    if len(forward) != 1 or not file.is_own_module(name):
        return False
    returns = [n for n in forward[0].nodes if isinstance(n, ast.Return)]
    return bool(returns) and all(
        n.value is not None and _softmax(file, forward[0], n.value, depth=depth - 1) is not None
        for n in returns
    )


def _is_written(scope: Scope, name: str) -> bool:
    """Changed in place since: `probs += eps`, `probs.clamp_(…)`, `probs[mask] = …`."""
    for node in scope.all_nodes():
        if isinstance(node, ast.Subscript) and dotted(node.value) == name and isinstance(node.ctx, ast.Store):
            return True
        if isinstance(node, ast.Attribute) and dotted(node.value) == name and node.attr.endswith("_"):
            return True
    return False
