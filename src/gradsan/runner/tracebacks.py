"""Tracebacks as plain `python` would show them: without a frame of ours, wherever it stands."""

from __future__ import annotations

import os
import sys
from types import TracebackType

from gradsan.observe.last_resort import attempt

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# The agents are training code like any user's.
TRAINING_CODE = tuple(PACKAGE + part + os.sep for part in ("rl",))
IMPORT_SYSTEM = "<frozen importlib"
REDISPATCH = os.path.join("torch", "overrides.py")


def clean(error: BaseException) -> None:
    """Take our frames out of the traceback of this exception and of all that it is linked to."""
    pending, seen = [error], set()
    while pending:
        current = pending.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        current.__traceback__ = without_own_frames(current.__traceback__)
        linked = (current.__cause__, current.__context__)
        pending.extend(e for e in linked if e is not None)
        if isinstance(current, BaseExceptionGroup):
            pending.extend(current.exceptions)


def without_own_frames(tb: TracebackType | None) -> TracebackType | None:
    entries: list[TracebackType] = []
    kept: list[TracebackType] = []
    while tb is not None:
        entries.append(tb)
        tb = tb.tb_next
    after_own = False
    for entry in entries:
        if is_own(_file(entry)):
            _drop_way_in(kept)
            after_own = True
        elif not (after_own and _file(entry).startswith(IMPORT_SYSTEM)):
            kept.append(entry)
            after_own = False
    rebuilt: TracebackType | None = None
    for entry in reversed(kept):
        rebuilt = TracebackType(rebuilt, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return rebuilt


def is_own(file: str) -> bool:
    return file.startswith(PACKAGE) and not file.startswith(TRAINING_CODE)


def _drop_way_in(kept: list[TracebackType]) -> None:
    """PyTorch calls a function mode through two frames, and then the function once more; the import
    system calls a loader through several. Without us none of them would be there."""
    while kept and _file(kept[-1]).startswith(IMPORT_SYSTEM):
        kept.pop()
    if kept and _file(kept[-1]).endswith(REDISPATCH):
        del kept[-2:]


def _file(entry: TracebackType) -> str:
    return entry.tb_frame.f_code.co_filename


def show(error: BaseException) -> None:
    """What the interpreter does with an exception that nobody caught."""
    attempt("traceback", clean, error)
    kind, tb = type(error), error.__traceback__
    sys.last_type, sys.last_value, sys.last_traceback = kind, error, tb
    try:
        sys.excepthook(kind, error, tb)
    except SystemExit:
        raise
    except BaseException as second:
        attempt("traceback", clean, second)
        print("Error in sys.excepthook:", file=sys.stderr)
        sys.__excepthook__(type(second), second, second.__traceback__)
        print("\nOriginal exception was:", file=sys.stderr)
        sys.__excepthook__(kind, error, tb)
