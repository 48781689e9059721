"""What is wrong with our own code, and nobody else could take down: noted here, and the script goes on."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Callable
from typing import NamedTuple, ParamSpec, TypeVar

from gradsan.observe import interruptions

P = ParamSpec("P")
R = TypeVar("R")
ENOUGH = 20


class Noted(NamedTuple):
    tap: str
    traceback: str


faults: list[Noted] = []
listeners: list[Callable[[], None]] = []  # they are told that something is broken, not what


def attempt(part: str, look: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
    """Run a piece of our own code that stands outside of every containment. Its fault is noted."""
    result = None
    try:
        result = look(*args, **kwargs)
    except Exception as error:
        if interruptions.is_the_scripts(error):
            raise
        note(part)
    if interruptions.waiting:
        interruptions.deliver(sys._getframe(1))
    return result


interruptions.WORK.add(attempt.__code__)


def own(part: str, error: Exception) -> None:
    """For whoever catches it by himself: noted where it is a fault of ours, raised on where it is the script's."""
    if interruptions.is_the_scripts(error):
        raise error
    note(part)


def note(part: str) -> None:
    """The exception being handled is a fault of ours; told once for each part."""
    if len(faults) >= ENOUGH or any(known.tap == part for known in faults):
        return
    try:
        text = traceback.format_exc()
    except Exception:  # no memory or no stack left for it
        text = f"{sys.exc_info()[0]}"
    faults.append(Noted(part, text))
    for listener in listeners:
        with contextlib.suppress(Exception):
            listener()


def take() -> list[Noted]:
    taken = list(faults)
    faults.clear()
    return taken
