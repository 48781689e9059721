"""GS703: in a training step, the network inside DistributedDataParallel is called past its wrapper."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradsan.lint.mistake import Mistake
from gradsan.lint.names import dotted
from gradsan.lint.scopes import Scope
from gradsan.lint.source_file import SourceFile

WRAPPERS = (
    "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.parallel.distributed.DistributedDataParallel",
)


BY_HAND = "all_reduce"  # who averages the gradients without the wrapper may pass it by


def check(file: SourceFile) -> Iterator[Mistake]:
    if any(BY_HAND in text for text in file.lines):
        return
    for scope in file.scopes:
        for call in scope.calls():
            wrapped, _, last = dotted(call.func).rpartition(".")
            if last != "module" or scope.is_without_grad(call) or not _is_wrapped(file, scope, wrapped):
                continue
            if (backward := _backward_of(scope, call)) is not None:
                what = (
                    f"this calls the network inside `{wrapped}`, past the wrapper that averages the gradients"
                )
                yield Mistake("GS703", scope, call, what, (("call", call), ("backward", backward)))


def _is_wrapped(file: SourceFile, scope: Scope, name: str) -> bool:
    """Made by the wrapper, wherever the name is bound again."""
    made = file.bindings(scope, name) if name else []
    wraps = [value is not None and file.called(value) in WRAPPERS for value in made]
    return any(wraps) and bool(made) and wraps[-1]


def _backward_of(scope: Scope, call: ast.Call) -> ast.Call | None:
    """The backward of a loss that is computed from this call: names are followed from assignment to assignment."""
    carried: set[str] = set()
    for node in scope.nodes:
        if isinstance(node, ast.Assign | ast.AugAssign) and node.lineno >= call.lineno:
            inside = list(ast.walk(node.value))
            if call in inside or any(isinstance(n, ast.Name) and n.id in carried for n in inside):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                carried |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        is_backward = (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "backward"
        )
        if is_backward and any(
            n is call or (isinstance(n, ast.Name) and n.id in carried) for n in ast.walk(node)
        ):
            return node  # type: ignore[return-value]
    return None
