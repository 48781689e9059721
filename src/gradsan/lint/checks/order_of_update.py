"""GS404, GS405: in one straight block, the gradient is cleared after backward, or stepped before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradsan.lint.events import Event, blocks, events, may_fill, training
from gradsan.lint.mistake import Mistake, line
from gradsan.lint.owners import clears_for
from gradsan.lint.scopes import Scope
from gradsan.lint.source_file import SourceFile

QUIET = ("clip", "unscale")  # what may stand between a clear and a step without giving it a gradient


def check(file: SourceFile) -> Iterator[Mistake]:
    for scope in file.scopes:
        for block, loop in blocks(scope):
            found = events(file, block)
            yield from _in_block(file, scope, found)
            if loop is not None:
                yield from _around_the_loop(file, scope, found)


def _in_block(file: SourceFile, scope: Scope, found: list[Event]) -> Iterator[Mistake]:
    for at, clear in enumerate(found):
        if clear.kind != "zero" or clear.opaque or not clear.about:
            continue
        step = next((e for e in found[at + 1 :] if not _is_quiet(e)), None)
        if step is None or step.kind != "step" or step.opaque or not clears_for(file, scope, clear, step):
            continue
        between, after = found[at + 1 : found.index(step)], found[found.index(step) + 1 :]
        backward = _waiting(found[:at], clear.about)
        if backward is not None and not any(e.kind == "call" for e in between):
            yield _wiped(scope, backward, clear, step)
        elif backward is None and (late := _only_later(found[:at], after)) is not None:
            yield _stepped_first(scope, step, late, ("zero_grad", clear))


def _is_quiet(event: Event) -> bool:
    """A call whose result is used may compute the loss; one whose result is dropped may do anything."""
    return not event.opaque and (event.kind in QUIET or (event.kind == "call" and not event.is_dropped))


def _waiting(before: Sequence[Event], optimizer: str) -> Event | None:
    """The backward whose gradient no step has applied yet: it stands in this block, right before."""
    for event in reversed(before):
        if event.kind == "backward":
            return None if event.opaque else event
        if event.kind in ("step", "scaler step", "write") or (
            event.kind == "zero" and event.about == optimizer
        ):
            return None
        if event.opaque:
            return None
    return None


def _only_later(before: Sequence[Event], after: Sequence[Event]) -> Event | None:
    """The backward that comes too late: the only one, and no step follows it."""
    if any(e.kind != "call" or e.opaque or e.is_dropped for e in before):
        return None
    rest = [e for e in after if e.kind in ("backward", "step", "scaler step", "write", "zero")]
    return rest[0] if len(rest) == 1 and rest[0].kind == "backward" and not rest[0].opaque else None


def _around_the_loop(file: SourceFile, scope: Scope, every: list[Event]) -> Iterator[Mistake]:
    """Step, backward, clear: what backward writes is gone before the step of the next iteration."""
    found = training(every)
    if any(may_fill(event) for event in every):
        return
    if [e.kind for e in found] != ["step", "backward", "zero"] or any(e.opaque for e in found):
        return
    step, backward, clear = found
    if clears_for(file, scope, clear, step):
        yield _stepped_first(scope, step, backward, ("zero_grad", clear))


def _wiped(scope: Scope, backward: Event, clear: Event, step: Event) -> Mistake:
    return Mistake(
        "GS405",
        scope,
        clear.node,
        f"this clears the gradient that backward on {line(backward.node)} has just put there; nothing is left for "
        f"the step on {line(step.node)}",
        (("backward", backward.node), ("zero_grad", clear.node), ("step", step.node)),
    )


def _stepped_first(scope: Scope, step: Event, backward: Event, clear: tuple[str, Event]) -> Mistake:
    role, cleared = clear
    return Mistake(
        "GS404",
        scope,
        step.node,
        f"this step runs before backward on {line(backward.node)}, and {line(cleared.node)} has cleared what the "
        "backward before that wrote: there is no gradient to apply",
        ((role, cleared.node), ("step", step.node), ("backward", backward.node)),
    )
