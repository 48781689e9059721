"""Signals that end a program: the report comes first, and then the same death as without us."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Interrupted(BaseException):
    """The program was ended by Ctrl-C; its traceback and the report have been shown."""


def die_of_interrupt() -> NoReturn:
    """Let the interpreter end as it ends on Ctrl-C (exit handlers, then death by SIGINT), silently."""
    sys.excepthook = lambda *_: None
    raise KeyboardInterrupt


@contextlib.contextmanager
def last_words(say: Callable[[], None]) -> Iterator[None]:
    """Call `say` when a signal is about to end the process. The program's own handlers take
    precedence: once it has set one, ours is gone."""
    owner = os.getpid()

    def handler(number: int, _frame: Any) -> None:
        signal.signal(number, signal.SIG_DFL)
        try:
            if os.getpid() == owner:
                say()
        except Exception:
            traceback.print_exc()
        finally:
            os.kill(os.getpid(), number)

    ours = [s for s in ENDING if signal.getsignal(s) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in ours:
            if signal.getsignal(number) is handler:
                signal.signal(number, signal.SIG_DFL)
