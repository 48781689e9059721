"""A real pseudo-terminal with an emulator behind it: what a person would see."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from typing import Any

import pyte

from sandbox import PATIENCE


class Terminal:
    def __init__(self, command: list[str], lines: int = 12, columns: int = 100, **options: Any) -> None:
        self.screen = pyte.HistoryScreen(columns, lines, history=10_000, ratio=0.5)
        self._stream = pyte.ByteStream(self.screen)
        self._master, slave = pty.openpty()
        self.resize(lines, columns)
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, **options)
        os.close(slave)

    def resize(self, lines: int, columns: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        if (self.screen.lines, self.screen.columns) != (lines, columns):
            self.screen.resize(lines, columns)

    def until(self, seen: Callable[[], object]) -> None:
        """Read until the screen shows it."""
        deadline = time.monotonic() + PATIENCE
        while not seen():
            assert self._read(deadline), f"it ended before that was seen:\n{self.text()}"

    def finish(self) -> int:
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline):
            pass
        os.close(self._master)
        return self.process.wait(PATIENCE)

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, f"nothing for {PATIENCE} seconds:\n{self.text()}"
        try:
            data = os.read(self._master, 65536)
        except OSError:  # the other side is closed
            return False
        self._stream.feed(data)
        return bool(data)

    @property
    def last_line(self) -> str:
        return self.screen.display[-1].rstrip()

    def text(self) -> str:
        """All that was ever on the screen, with what has scrolled away."""
        rows = [*self.screen.history.top, *(self.screen.buffer[y] for y in range(self.screen.lines))]
        width = self.screen.columns
        return "\n".join("".join(row[x].data for x in range(width)).rstrip() for row in rows)
