"""GS507: a clip between `scaler.scale(loss).backward()` and `scaler.step(optimizer)`, and `unscale_` nowhere."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

from gradsan.lint.events import Event, blocks, events
from gradsan.lint.mistake import Mistake, line
from gradsan.lint.names import dotted
from gradsan.lint.scopes import Scope
from gradsan.lint.source_file import SourceFile

ABOUT_SCALING = re.compile(r"(?i)scal|amp|fp16|precision|half|float16")


def check(file: SourceFile) -> Iterator[Mistake]:
    for scope in file.scopes:
        scalers = {_scaler(scope, call) for call in scope.calls()} - {""}
        if scalers and not _unscales(scope) and not any(_is_off(file, scope, name) for name in scalers):
            for block, _ in blocks(scope):
                yield from _in_block(scope, events(file, block))


def _scaler(scope: Scope, call: ast.AST) -> str:
    """`scaler` of `scaler.scale(loss).backward()`, also where the scaled loss has a name of its own."""
    if (
        not isinstance(call, ast.Call)
        or not isinstance(call.func, ast.Attribute)
        or call.func.attr != "backward"
    ):
        return ""
    scaling: ast.expr | None = call.func.value
    if isinstance(scaling, ast.Name) and len(values := scope.bindings.get(scaling.id, [])) == 1:
        scaling = values[0]
    if not isinstance(scaling, ast.Call) or not isinstance(scaling.func, ast.Attribute):
        return ""
    return dotted(scaling.func.value) if scaling.func.attr == "scale" else ""


def _is_off(file: SourceFile, scope: Scope, scaler: str) -> bool:
    """`GradScaler(enabled=False)` scales nothing."""
    made = [value for value in file.bindings(scope, scaler) if isinstance(value, ast.Call)]
    given = [k.value for value in made for k in value.keywords if k.arg == "enabled"]
    return any(isinstance(value, ast.Constant) and not value.value for value in given)


def _unscales(scope: Scope) -> bool:
    """By `unscale_`, by hand through `.grad`, or by a limit that knows the scale."""
    return any(
        isinstance(node, ast.Attribute)
        and ("unscale" in node.attr or node.attr in ("grad", "get_scale", "_scale"))
        for node in scope.all_nodes()
    )


def _in_block(scope: Scope, found: list[Event]) -> Iterator[Mistake]:
    for at, scaled in enumerate(found):
        scaler = _scaler(scope, scaled.node)
        if not scaler or scaled.opaque:
            continue
        between = list(itertools.takewhile(lambda e: e.kind in ("clip", "zero", "call"), found[at + 1 :]))
        step = next(iter(found[at + 1 + len(between) :]), None)
        if step is None or step.opaque or (step.kind, step.about) != ("scaler step", scaler):
            continue
        before = itertools.takewhile(lambda event: not _may_unscale(event, step), between)  # noqa: B023
        for clip in before:
            if clip.kind == "clip" and _is_not_the_other_way(clip):
                yield _mistake(scope, scaled, clip, step, scaler)


def _may_unscale(event: Event, step: Event) -> bool:
    """A helper that has the scaler or the optimizer at hand, or may take it from anywhere."""
    if event.kind != "call" or not isinstance(event.node, ast.Call):
        return False
    at_hand = {node.id for node in ast.walk(step.node) if isinstance(node, ast.Name)}
    named = {node.id for node in ast.walk(event.node) if isinstance(node, ast.Name)}
    return not at_hand.isdisjoint(named) or not (event.node.args or event.node.keywords)


def _is_not_the_other_way(clip: Event) -> bool:
    """A clip under a condition that may be about the scaler itself is left alone."""
    if not clip.opaque:
        return True
    asked = clip.statement
    return isinstance(asked, ast.If) and not asked.orelse and not ABOUT_SCALING.search(ast.unparse(asked))


def _mistake(scope: Scope, scaled: Event, clip: Event, step: Event, scaler: str) -> Mistake:
    return Mistake(
        "GS507",
        scope,
        clip.node,
        f"this clips a gradient that is still multiplied by the loss scale of {line(scaled.node)}: `{scaler}.step` on "
        f"{line(step.node)} divides it out only after the clip, so the limit is off by the scale",
        (("backward", scaled.node), ("clip", clip.node), ("unscale", step.node)),
    )
