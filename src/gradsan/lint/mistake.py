"""What a check reports: which rule, which line is to be changed, and the lines that tell the story."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gradsan.lint.scopes import Scope
from gradsan.lint.source_file import SourceFile

Node = ast.expr | ast.stmt


@dataclass(frozen=True)
class Mistake:
    rule: str
    scope: Scope
    culprit: Node
    message: str
    sites: tuple[tuple[str, Node], ...] = ()
    severity: str = ""  # where it is another than the rule's


Check = Callable[[SourceFile], Iterable[Mistake]]


def line(node: Node) -> str:
    return f"line {node.lineno}"


def code(node: ast.AST) -> str:
    """As it would be written, in one line and short enough for a message."""
    text = ast.unparse(node)
    return text if len(text) <= 60 else f"{text[:57]}…"
