"""Room on the stack for our own frames: a recursion of the script's that only just fits must fit under us, too.

Python counts every frame against one limit: those of the command that runs the script, below it, and those of our
taps, on top of it. So the limit is raised by as much, and the script goes on seeing, and setting, the one it knows.
A recursion without end goes on for a few frames more before it is stopped.
"""

from __future__ import annotations

import functools
import sys
from types import FrameType
from typing import Any

from gradsan.observe.patches import Patches

ON_TOP = 64  # frames that our deepest look needs


class Headroom:
    def __init__(self) -> None:
        self._patches = Patches()
        self._extra = 0

    def start(self) -> None:
        get, put = sys.getrecursionlimit, sys.setrecursionlimit

        @functools.wraps(get)
        def getrecursionlimit() -> int:
            return get() - self._extra

        @functools.wraps(put)
        def setrecursionlimit(limit: Any, /) -> None:
            put(limit + self._extra if isinstance(limit, int) and limit > 0 else limit)

        self._patches.set(sys, "getrecursionlimit", getrecursionlimit)
        self._patches.set(sys, "setrecursionlimit", setrecursionlimit)
        self.add(ON_TOP)

    def add(self, frames: int) -> None:
        limit = sys.getrecursionlimit()
        self._extra += frames
        sys.setrecursionlimit(limit)

    def add_below(self, frame: FrameType | None) -> None:
        """This frame and those that called it would not be there without us."""
        depth = 0
        while frame is not None:
            depth, frame = depth + 1, frame.f_back
        self.add(depth)

    def stop(self) -> None:
        if self._extra:
            self.add(-self._extra)
        self._patches.restore()
