"""GS504: a clip after the step that it was for, or before the backward."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gradsan.lint.events import Event, blocks, event_of, events, may_fill, training
from gradsan.lint.mistake import Mistake, line
from gradsan.lint.names import argument
from gradsan.lint.owners import clears_for, network, owned
from gradsan.lint.scopes import Scope
from gradsan.lint.source_file import SourceFile

STEPS = ("step", "scaler step")
OPTIMIZER = re.compile(r"_?opt(im(izer)?)?_?")  # what is left of `critic_opt` says whose it is


def check(file: SourceFile) -> Iterator[Mistake]:
    for scope in file.scopes:
        for block, loop in blocks(scope):
            is_whole = loop is not None or block is scope.node.body
            if is_whole or len(_steps(file, scope)) == 1:
                yield from _in_block(file, scope, events(file, block))


def _steps(file: SourceFile, scope: Scope) -> set[str]:
    """The optimizers that step in this scope: what follows a block may be the step of another one."""
    found = (event_of(file, call, ast.Expr(call)) for call in scope.calls())
    return {e.about for e in found if e is not None and e.kind in STEPS}


def _in_block(file: SourceFile, scope: Scope, every: list[Event]) -> Iterator[Mistake]:
    found = training(every)
    for at, clip in enumerate(found):
        if clip.kind != "clip" or not clip.is_dropped or not _is_straight(clip):
            continue
        before, after = found[:at], found[at + 1 :]
        if applied := _applied(before):
            refilled = _is_filled(every[every.index(applied[1]) :], clip)
            if not refilled and _goes_to_waste(file, scope, clip, applied[1], before, after):
                yield _after(scope, *applied, clip)
        elif (update := _to_come(before, after)) and not _is_filled(every, clip):
            clears = any(
                e.kind == "zero" and clears_for(file, scope, e, update[1]) for e in [*before, *after]
            )
            if clears and _belongs(file, scope, clip, update[1].about, found):
                yield _before(scope, clip, *update)


def _is_straight(clip: Event) -> bool:
    """Also under a condition of its own: whenever it clips, it does so at the wrong moment."""
    return not clip.opaque or (isinstance(clip.statement, ast.If) and not clip.statement.orelse)


def _applied(before: list[Event]) -> tuple[Event, Event] | None:
    """The backward and the step right before a clip; only a clear may stand in between."""
    rest = [e for e in before if e.kind != "zero"][-2:]
    kinds = [e.kind for e in rest]
    return (rest[0], rest[1]) if kinds == ["backward", "step"] and not any(e.opaque for e in before) else None


def _goes_to_waste(
    file: SourceFile, scope: Scope, clip: Event, step: Event, before: list[Event], after: list[Event]
) -> bool:
    """No other step comes before the gradient is cleared, here or at the beginning of the next round."""
    coming = [e for e in after if e.kind != "zero"][:1]
    if coming and (coming[0].kind != "backward" or any(e.opaque for e in after)):
        return False
    cleared = any(e.kind == "zero" and clears_for(file, scope, e, step) for e in [*before, *after])
    return cleared and _belongs(file, scope, clip, step.about, [*before, *after])


def _to_come(before: list[Event], after: list[Event]) -> tuple[Event, Event] | None:
    """The backward and the step that follow a clip before which nothing but a clear was done."""
    rest = [e for e in after if e.kind != "zero"]
    right = [e.kind for e in rest] == ["backward", "step"] and all(e.kind == "zero" for e in before)
    in_order = [e.kind for e in after] in (["backward", "step"], ["backward", "step", "zero"])
    return (rest[0], rest[1]) if right and in_order and not any(e.opaque for e in [*before, *after]) else None


def _belongs(file: SourceFile, scope: Scope, clip: Event, optimizer: str, found: list[Event]) -> bool:
    """The clip is about what this optimizer steps: by name where names are known, else because there is no other."""
    given = argument(clip.node, 0, "parameters") if isinstance(clip.node, ast.Call) else None
    clipped, mine = network(given), owned(file, scope, optimizer)
    if clipped and mine and "" not in mine:
        return clipped in mine
    whose = OPTIMIZER.sub("", optimizer.rpartition(".")[2])
    if given is None or whose not in ast.unparse(given):
        return False
    return len({e.about for e in found if e.kind in STEPS}) == 1


def _is_filled(found: list[Event], clip: Event) -> bool:
    return any(may_fill(event) for event in found[: found.index(clip)])


def _after(scope: Scope, backward: Event, step: Event, clip: Event) -> Mistake:
    return Mistake(
        "GS504",
        scope,
        clip.node,
        f"this clips the gradient after the step on {line(step.node)} has applied it",
        (("backward", backward.node), ("step", step.node), ("clip", clip.node)),
    )


def _before(scope: Scope, clip: Event, backward: Event, step: Event) -> Mistake:
    return Mistake(
        "GS504",
        scope,
        clip.node,
        f"this clips the gradient before backward on {line(backward.node)} has written it",
        (("clip", clip.node), ("backward", backward.node), ("step", step.node)),
    )
