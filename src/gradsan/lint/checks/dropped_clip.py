"""GS506: the clamped gradient is a new tensor, and nobody takes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradsan.lint.mistake import Mistake, code
from gradsan.lint.names import dotted
from gradsan.lint.scopes import Scope
from gradsan.lint.source_file import SourceFile

METHODS = ("clamp", "clip")
FUNCTIONS = ("torch.clamp", "torch.clip")


def check(file: SourceFile) -> Iterator[Mistake]:
    for scope in file.scopes:
        for statement in scope.nodes:
            value = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
            if not isinstance(value, ast.Call) or (clamped := _clamped(file, value)) is None:
                continue
            if _is_tried_out(file, scope, value):
                continue
            if isinstance(statement, ast.Expr) or _is_never_read(scope, statement):
                yield Mistake(
                    "GS506",
                    scope,
                    value,
                    f"`{dotted(value.func).rpartition('.')[2] or 'clamp'}` returns a new tensor, which is dropped; "
                    f"`{code(clamped)}` stays as it is",
                    (("clip", value),),
                )


def _clamped(file: SourceFile, call: ast.Call) -> ast.expr | None:
    """The gradient that a call clamps without changing it."""
    if any(keyword.arg in ("out", None) for keyword in call.keywords):
        return None
    subject = None
    if file.called(call) in FUNCTIONS and call.args:
        subject = call.args[0]
    elif isinstance(call.func, ast.Attribute) and call.func.attr in METHODS and not file.called(call):
        subject = call.func.value
    inner = subject.value if isinstance(subject, ast.Attribute) and subject.attr == "data" else subject
    return subject if isinstance(inner, ast.Attribute) and inner.attr == "grad" else None


def _is_tried_out(file: SourceFile, scope: Scope, call: ast.Call) -> bool:
    """Under `pytest.raises`, a timer and the like, it is called for what happens then, and not for its result."""
    around = [n for n in scope.nodes if isinstance(n, ast.With | ast.AsyncWith)]
    inside = [n for n in around if n.lineno <= call.lineno <= (n.end_lineno or 0)]
    managers = [item.context_expr for with_ in inside for item in with_.items]
    return not all(_is_torchs(file, manager) for manager in managers)


def _is_torchs(file: SourceFile, manager: ast.expr) -> bool:
    function = manager.func if isinstance(manager, ast.Call) else manager
    return file.qualified(function).startswith("torch.")


def _is_never_read(scope: Scope, statement: ast.AST) -> bool:
    """Bound to a plain local name that nothing in the scope reads."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if (
        len(targets) != 1
        or not isinstance(target := targets[0], ast.Name)
        or isinstance(scope.node, ast.Module)
    ):
        return False
    uses = [n for n in scope.all_nodes() if isinstance(n, ast.Name) and n.id == target.id]
    outer = any(isinstance(n, ast.Global | ast.Nonlocal) and target.id in n.names for n in scope.nodes)
    return not outer and not any(isinstance(use.ctx, ast.Load) for use in uses)
