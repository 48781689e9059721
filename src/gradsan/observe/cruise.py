"""The fast lane: while the script only repeats itself, each tap does nothing but check that it does.

Taken in full, the bookkeeping at the boundaries costs a small network a quarter of its speed. But a
training loop runs through the same few courses of boundaries (zero_grad, backward, clip, step …) again
and again. Once those are known, a tap compares one number and lets the call through; the first boundary
that is not where it was expected ends the cruise, and from there on everything is looked at again. Now
and then a full look is taken anyway.
"""

from __future__ import annotations

from types import FrameType

FULL_EVERY = 128  # iterations between two full looks
MEMORY = 2_000  # beginnings of iterations that are remembered
FULL_LENGTH = 2  # iterations: one to find out where things stand, one to judge


class Cruise:
    def __init__(self) -> None:
        self.on = False
        self.skipped = 0  # iterations let through since the last full look
        self._state = 0
        self._path: list[int] = []
        self._known: set[int] = set()
        self._ends: set[int] = set()

    # -- learning -----------------------------------------------------------------------------------

    def note(self, token: int) -> None:
        """A boundary was passed at full attention."""
        self._state = hash((self._state, token))
        self._path.append(self._state)

    def end_of_iteration(self, familiar: bool) -> None:
        """`familiar`: this iteration went like others that have been judged often enough."""
        if len(self._known) > MEMORY:  # objects that come and go bring courses that never return
            self._known.clear()
            self._ends.clear()
        if familiar and self._path:
            self._known.update(self._path[:-1])
            self._ends.add(self._path[-1])
        self._path.clear()
        self._state = 0

    # -- cruising -----------------------------------------------------------------------------------

    def passes(self, token: int) -> bool:
        """Whether this boundary is where it was expected. If not, the cruise is over."""
        state = hash((self._state, token))
        if state in self._ends:
            self.skipped += 1
            self._state = 0
            return True
        if state in self._known:
            self._state = state
            return True
        self.on = False
        self._state = 0
        self._path.clear()
        return False

    @property
    def at_start(self) -> bool:
        return self._state == 0


def place_token(frame: FrameType) -> int:
    """A number for the very call that a frame is in the middle of."""
    return id(frame.f_code) * 31 + frame.f_lasti
