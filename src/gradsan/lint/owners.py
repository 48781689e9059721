"""Which network an optimizer owns, as far as the line that makes it tells."""

from __future__ import annotations

import ast

from gradsan.lint.events import Event
from gradsan.lint.names import argument, dotted
from gradsan.lint.scopes import Scope
from gradsan.lint.source_file import SourceFile


def network(parameters: ast.expr | None) -> str:
    """`net` of `net.parameters()`; empty where it is something else."""
    if isinstance(parameters, ast.Call) and isinstance(parameters.func, ast.Attribute):
        return dotted(parameters.func.value) if parameters.func.attr == "parameters" else ""
    return ""


def owned(file: SourceFile, scope: Scope, optimizer: str) -> set[str]:
    """The networks that an optimizer was made for; "" is among them where one of them is not known."""
    made = file.bindings(scope, optimizer)
    return {
        network(argument(value, 0, "params"))
        if isinstance(value, ast.Call) and file.is_optimizer(value)
        else ""
        for value in made
    }


def clears_for(file: SourceFile, scope: Scope, clear: Event, step: Event) -> bool:
    """Whether a `zero_grad`, of the optimizer or of its network, clears what a step applies."""
    return bool(clear.about) and (
        clear.about == step.about or owned(file, scope, step.about) == {clear.about}
    )
