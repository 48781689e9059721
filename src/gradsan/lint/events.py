"""Training in a block of statements: what is cleared, backwarded, clipped and stepped, in the order of the source.

A block is straight: `with` is looked into, everything else that has a body of its own counts as one opaque statement,
of which is known only what kinds of events it holds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gradsan.lint.names import dotted
from gradsan.lint.scopes import Scope
from gradsan.lint.source_file import SourceFile

Kind = Literal["zero", "backward", "clip", "step", "unscale", "scaler step", "write", "call"]
CLIPS = {"clip_grad_norm_", "clip_grad_value_", "clip_grad_norm", "clip_grad_value"}
NO_OPTIMIZERS = ("sched", "env", "prof", "warmup")  # what else has a method `step`
BACKWARDS = {"backward", "manual_backward"}
HARMLESS = {
    "print",
    "float",
    "int",
    "len",
    "range",
    "str",
    "isinstance",
    "list",
    "tuple",
    "max",
    "min",
    "time.time",
}
HARMLESS_METHODS = {
    "item",
    "parameters",
    "detach",
    "cpu",
    "append",
    "format",
    "mean",
    "sum",
    "add_scalar",
    "update",
}
Block = list[ast.stmt]


@dataclass(frozen=True)
class Event:
    kind: Kind
    about: str  # the optimizer, the network or the scaler, as it is spelt; empty where it is no plain name
    node: ast.Call | ast.stmt
    statement: ast.stmt
    opaque: bool = False

    @property
    def is_dropped(self) -> bool:
        """Whether the result of the call goes nowhere."""
        inside = ast.walk(self.statement) if self.opaque else (self.statement,)
        return any(isinstance(part, ast.Expr) and part.value is self.node for part in inside)


def events(file: SourceFile, block: Block) -> list[Event]:
    return list(_events(file, block))


def _events(file: SourceFile, block: Block) -> Iterator[Event]:
    for statement in block:
        if isinstance(statement, ast.With | ast.AsyncWith):
            yield from _events(file, statement.body)
            continue
        opaque = any(getattr(statement, part, None) for part in ("body", "orelse", "handlers", "cases"))
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for node in _in_order(statement):
            if event := event_of(file, node, statement, opaque):
                yield event


def _in_order(statement: ast.stmt) -> Iterator[ast.AST]:
    """What a call is given comes before the call; functions defined inside are left out."""
    for child in ast.iter_child_nodes(statement):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield from _in_order(child)  # type: ignore[arg-type]
    yield statement


def event_of(file: SourceFile, node: ast.AST, statement: ast.stmt, opaque: bool = False) -> Event | None:
    if isinstance(node, ast.Call):
        kind, about = _call(file, node)
        return Event(kind, about, node, statement, opaque) if kind is not None else None
    if isinstance(node, ast.Assign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(
            isinstance(part, ast.Attribute) and part.attr in ("grad", "_grad")
            for t in targets
            for part in ast.walk(t)
        ):
            return Event("write", "", node, statement, opaque)
    return None


def _call(file: SourceFile, call: ast.Call) -> tuple[Kind | None, str]:
    function = call.func
    full = file.qualified(function)
    last = dotted(function).rpartition(".")[2]
    if full.startswith("torch.nn.utils.") and last in CLIPS:
        return "clip", ""
    if full.startswith("torch.autograd."):
        return ("backward", "") if last in ("backward", "grad") else ("call", full)
    if isinstance(function, ast.Attribute) and not full:
        about, method = dotted(function.value), function.attr
        if method == "zero_grad":
            return "zero", about
        if method in BACKWARDS:
            return "backward", about
        if method == "unscale_":
            return "unscale", about
        if method == "step" and not any(word in about.lower() for word in NO_OPTIMIZERS):
            return ("scaler step" if call.args or call.keywords else "step"), about
        return (None, "") if method in HARMLESS_METHODS or method in CLIPS else ("call", about)
    known = dotted(function) in HARMLESS or full.split(".")[0] in ("torch", "math", "numpy", "time")
    return (None, "") if known else ("call", full or dotted(function))


def blocks(scope: Scope) -> Iterator[tuple[Block, ast.For | ast.AsyncFor | ast.While | None]]:
    """Every block of a scope, and the loop whose body it is. The body of a `with` belongs to the block around it."""
    yield scope.node.body, None
    for node in scope.nodes:
        if isinstance(node, ast.With | ast.AsyncWith):
            continue
        loop = node if isinstance(node, ast.For | ast.AsyncFor | ast.While) else None
        for part in ("body", "orelse", "finalbody"):
            block = getattr(node, part, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block, loop if part == "body" else None


def may_fill(event: Event) -> bool:
    """A call of something that cannot be looked into, and for its own sake, may run a backward of its own."""
    return event.kind == "call" and (event.is_dropped or event.opaque)


def training(found: list[Event]) -> list[Event]:
    """Without the calls that may be anything."""
    return [event for event in found if event.kind != "call"]
