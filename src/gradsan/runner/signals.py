"""Endings that give nobody a last word, signals among them: the report comes first, and then the same end."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from gradsan.observe.interruptions import defaults, get_handler, set_handler
from gradsan.observe.patches import Patches

# Those that end a process which does not handle them, and leave it time for a word.
ENDING = [
    getattr(signal, name)
    for name in (
        "SIGTERM", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGPROF", "SIGXCPU",
    )
    if hasattr(signal, name)
]  # fmt: skip
EXITS = ("_exit", "execv", "execve")  # all other ways to replace the process lead through the last two


heirs: list[Callable[[], None]] = []  # what a forked child has to say before it ends


class Interrupted(BaseException):
    """The program was ended by Ctrl-C; its traceback and the report have been shown."""


def die_of_interrupt() -> NoReturn:
    """Let the interpreter end as it ends on Ctrl-C (exit handlers, then death by SIGINT), silently."""
    sys.excepthook = lambda *_: None
    raise KeyboardInterrupt


@contextlib.contextmanager
def last_words(say: Callable[[], None]) -> Iterator[None]:
    """Call `say` when a signal, `os._exit` or `os.execv` is about to end the process. The program's own handlers
    take precedence: once it has set one, ours is gone. In a forked child, `heirs` are called instead."""
    owner, patches, said = os.getpid(), Patches(), False

    def say_once() -> None:
        nonlocal said
        if os.getpid() != owner:
            for heir in heirs:
                heir()
            return
        if said:
            return
        said = True
        try:
            say()
        except Exception:
            traceback.print_exc()

    def handler(number: int, _frame: Any) -> None:
        set_handler(number, signal.SIG_DFL)
        try:
            say_once()
        finally:
            os.kill(os.getpid(), number)

    ours = [s for s in ENDING if get_handler(s) is signal.SIG_DFL]
    for number in ours:
        defaults[number] = handler
        set_handler(number, handler)
    for name in EXITS:
        patches.set(os, name, _after(say_once, getattr(os, name)))
    try:
        yield
    finally:
        patches.restore()
        for number in ours:
            defaults.pop(number, None)
            if get_handler(number) is handler:
                set_handler(number, signal.SIG_DFL)


def _after(say: Callable[[], None], original: Any) -> Any:
    @functools.wraps(original)
    def ends(*args: Any, **kwargs: Any) -> Any:
        # A program that is not there raises, and this one goes on: `execvp` tries every folder on the path.
        if original.__name__ == "_exit" or (args and os.access(args[0], os.X_OK)):
            say()
        return original(*args, **kwargs)

    return ends
