"""The last line of a terminal, kept apart from all that is written above it.

The lines above become the terminal's scroll region. Whatever writes there (the script, a library in C, a
subprocess) scrolls as it always did and cannot meet the last line; nothing of the script's is redirected.
"""

from __future__ import annotations

import contextlib
import os
from typing import TextIO

FEWEST_LINES, FEWEST_COLUMNS = 4, 20
SAVE, RESTORE, ERASE, WHOLE_SCREEN = "\x1b7", "\x1b8", "\x1b[2K", "\x1b[r"  # the last one moves the cursor
DOWN_KEEPING_COLUMN, UP = "\x1bD", "\x1b[1A"


def is_possible(stream: TextIO | None) -> bool:
    """Only on a terminal that knows how, and is large enough to spare a line."""
    try:
        if stream is None or not stream.isatty() or os.environ.get("TERM", "dumb") in ("dumb", "unknown"):
            return False
        size = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return False
    return size.lines >= FEWEST_LINES and size.columns >= FEWEST_COLUMNS


class LastLine:
    def __init__(self, stream: TextIO) -> None:
        self._descriptor = stream.fileno()
        self._size = os.terminal_size((0, 0))
        self._closed = False

    def width(self) -> int:
        return os.get_terminal_size(self._descriptor).columns

    def draw(self, text: str) -> None:
        """`text` must fit into one line."""
        if self._closed:
            return
        size = os.get_terminal_size(self._descriptor)
        reserve = ""
        if size != self._size:
            reserve, self._size = self._reserve(size), size
        self._write(f"{reserve}{SAVE}\x1b[{size.lines};1H{ERASE}{text}{RESTORE}")

    def _reserve(self, size: os.terminal_size) -> str:
        # Where the cursor is on the last line, that line has to scroll up first, and the cursor has to leave it before
        # the region is set: some terminals restore a cursor only into the region. After a resize the old status may
        # stay on the screen: by now the script may have written there, and what it wrote must not go.
        room = f"{SAVE}{WHOLE_SCREEN}{RESTORE}{DOWN_KEEPING_COLUMN}{UP}"
        return f"{room}{SAVE}\x1b[1;{size.lines - 1}r{RESTORE}"

    def close(self) -> None:
        """Give the line back, empty."""
        self._closed = True
        if self._size.lines:
            self._write(f"{SAVE}{WHOLE_SCREEN}\x1b[{self._size.lines};1H{ERASE}{RESTORE}")

    def _write(self, text: str) -> None:
        """In one piece, so that nothing of the script's comes in between."""
        with contextlib.suppress(OSError):
            os.write(self._descriptor, text.encode("utf-8", "replace"))
