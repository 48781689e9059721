"""Single keys from the terminal. Where there is no terminal to listen to, lines from standard input."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

ENTER = "enter"


@contextlib.contextmanager
def unbuffered() -> Iterator[None]:
    """Deliver keys as they are pressed, without echo, and leave the terminal as it was found."""
    if sys.platform == "win32" or not sys.stdin.isatty():  # there, a key is followed by Enter
        yield
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)  # cbreak, not raw: Ctrl-C and the newline of our output keep working
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def pressed() -> Iterator[str]:
    """Every key, in lower case; "q" once the input is closed, so that a closed terminal ends the course."""
    yield from _single() if sys.stdin.isatty() and sys.platform != "win32" else _from_lines()
    yield "q"


def _single() -> Iterator[str]:
    while key := sys.stdin.read(1):
        if key in "\r\n":
            yield ENTER
        elif not key.isspace():
            yield key.lower()


def _from_lines() -> Iterator[str]:
    """Here a key is followed by Enter, which counts only where it stands alone."""
    for line in sys.stdin:
        yield from "".join(line.split()).lower() or [ENTER]
