"""GS210: a checkpoint that is reentrant by default; an error where its inputs were made without gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradsan.lint.mistake import Mistake, code
from gradsan.lint.names import has_stars
from gradsan.lint.scopes import Binding, Scope
from gradsan.lint.source_file import SourceFile

CHECKPOINTS = ("torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential")
FROM_A_LAYER = ("hidden", "embed", "state")
BY_DEFAULT = (
    "`use_reentrant` is not given, and the default is a reentrant checkpoint: where none of its inputs requires grad "
    "(observations, tokens, the output of frozen embeddings), nothing inside is trained"
)
# They make tensors that require no grad, unless they are told to.
FACTORIES = {"tensor", "as_tensor", "from_numpy", "rand", "randn", "zeros", "ones", "full", "arange", "randint", "eye",
             "linspace", "FloatTensor", "LongTensor", "randperm", "one_hot"}  # fmt: skip
KEEPING = {
    "to",
    "float",
    "long",
    "cuda",
    "view",
    "reshape",
    "unsqueeze",
    "squeeze",
    "contiguous",
    "flatten",
    "double",
}


def check(file: SourceFile) -> Iterator[Mistake]:
    for scope in file.scopes:
        for call in scope.calls():
            if (
                file.called(call) not in CHECKPOINTS
                or has_stars(call)
                or scope.is_without_grad(call)
                or not call.args
            ):
                continue
            asked = next((k.value for k in call.keywords if k.arg == "use_reentrant"), None)
            is_reentrant = asked is None or (isinstance(asked, ast.Constant) and asked.value in (True, None))
            if is_reentrant and _is_cut_off(file, scope, call):
                part = code(call.args[0])
                what = f"no gradient comes to `{part}`: no input of this reentrant checkpoint requires grad"
                yield Mistake("GS210", scope, call, what, (("checkpoint", call),))
            elif (
                asked is None
                and not _asks_for_gradient(scope)
                and _takes_only_what_is_given(file, scope, call)
            ):
                yield Mistake("GS210", scope, call, BY_DEFAULT, (("checkpoint", call),), "warning")


def _is_cut_off(file: SourceFile, scope: Scope, call: ast.Call) -> bool:
    """A network that can be trained, given nothing but tensors that were made without gradient."""
    inputs = call.args[1:]
    is_trained = file.is_module(scope, call.args[0]) and not _asks_for_gradient(scope)
    return is_trained and bool(inputs) and all(_is_constant(file, scope, given) for given in inputs)


def _takes_only_what_is_given(file: SourceFile, scope: Scope, call: ast.Call) -> bool:
    """Its inputs are the function's own, as they came: whatever was computed here is likely to require grad."""
    args = scope.node.args if not isinstance(scope.node, ast.Module) else None
    given = (
        {arg.arg for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs]} if args is not None else set()
    )
    inputs = call.args[1:]
    return bool(inputs) and all(
        _is_given(scope, node, given) or _is_constant(file, scope, node) for node in inputs
    )


def _is_given(scope: Scope, node: ast.expr, parameters: set[str]) -> bool:
    """A parameter that nothing binds again, or an item of one; not one that says it comes out of another layer."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in parameters:
        return False
    return len(scope.bindings[node.id]) == 1 and not any(word in node.id for word in FROM_A_LAYER)


def _asks_for_gradient(scope: Scope) -> bool:
    """Somebody has thought of it here: the network is frozen, or its input is asked or made to require grad."""
    return any(isinstance(n, ast.Attribute) and n.attr.startswith("requires_grad") for n in scope.all_nodes())


def _is_constant(file: SourceFile, scope: Scope, node: Binding, depth: int = 3) -> bool:
    """A tensor from a factory or a `detach`, as it is or only moved; everything it was ever bound to is one."""
    if node is None or not depth:
        return False
    if isinstance(node, ast.Name):
        values = scope.bindings.get(node.id, [])
        return bool(values) and all(_is_constant(file, scope, value, depth - 1) for value in values)
    if not isinstance(node, ast.Call) or any(k.arg in ("requires_grad", None) for k in node.keywords):
        return False
    full = file.called(node)
    if full:
        return full.startswith("torch.") and full.rpartition(".")[2] in FACTORIES
    if not isinstance(node.func, ast.Attribute):
        return False
    moved = node.func.attr in KEEPING and _is_constant(file, scope, node.func.value, depth)
    return moved or (node.func.attr == "detach" and not node.args)
