"""The fast lane: while the script only repeats itself, each tap does nothing but check that it does.

Taken in full, the bookkeeping at the boundaries costs a small network a quarter of its speed. But a
training loop runs through the same few courses of boundaries (zero_grad, backward, clip, step …) again
and again. Once those are known, a tap looks up one number and lets the call through; the first boundary
that is not where it was expected ends the fast_path, and from there on everything is looked at again. Now
and then a full look is taken anyway.

The known courses form a tree: from each boundary to those that have followed it, and from the last one of
an iteration back to the root.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any

MEMORY = 2_000  # boundaries that are remembered
FULL_LENGTH = 2  # iterations of a full look: one to find out where things stand, one to judge if need be
LEAST_BETWEEN_LOOKS, MOST_BETWEEN_LOOKS = 256, 1_024


class KnownBoundary(dict[int, "KnownBoundary"]):
    """What has followed a boundary, by number."""

    __slots__ = ("backward",)

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.clear()
        # The backward that has followed most recently: its code, its place there, what follows it, and whatever
        # its tap wants to keep. Comparing two of them is half as dear as making a number and looking it up.
        self.backward: tuple[CodeType | None, int, KnownBoundary | None, Any] = (None, 0, None, None)


def between_looks(iterations: int) -> int:
    """Ever more rarely as the run gets longer."""
    return max(LEAST_BETWEEN_LOOKS, min(iterations, MOST_BETWEEN_LOOKS))


class FastPath:
    __slots__ = (
        "_follower",
        "_path",
        "_size",
        "due",
        "node",
        "on",
        "on_due",
        "root",
        "skipped",
        "unfinished",
    )

    def __init__(self, on_due: Callable[[], None]) -> None:
        self.on = False
        self.skipped = 0  # iterations let through since the last full look
        self.unfinished = False  # boundaries of an iteration were let through, and then one was not
        self.due = LEAST_BETWEEN_LOOKS  # after so many it is time for one
        self.root = KnownBoundary()
        self.node = self.root  # where the present iteration has got to
        self._size = 0
        self._path: list[int] = []
        self.on_due = on_due  # to be called when enough iterations were let through
        self._follower: Callable[[bool], None] = lambda on: None

    def follow(self, follower: Callable[[bool], None]) -> None:
        """Tell it whenever the fast lane is entered, and when it is left."""
        self._follower = follower

    # -- learning -----------------------------------------------------------------------------------

    def note(self, token: int) -> None:
        """A boundary was passed at full attention."""
        if len(self._path) <= MEMORY:  # a script without optimizers has iterations without end
            self._path.append(token)

    def end_of_iteration(self, familiar: bool) -> None:
        """`familiar`: this iteration went like others that have been judged often enough."""
        if self._size > MEMORY:  # objects that come and go bring courses that never return
            self.root.forget()
            self._size = 0
        if familiar and 0 < len(self._path) <= MEMORY:
            node = self.root
            for token in self._path[:-1]:
                if node.get(token) is self.root:  # a shorter course ends here, and goes first
                    break
                if token not in node:
                    node[token] = KnownBoundary()
                    self._size += 1
                node = node[token]
            else:
                node[self._path[-1]] = self.root
        self._path.clear()
        self.node = self.root

    # -- cruising -----------------------------------------------------------------------------------

    def passes(self, token: int) -> bool:
        """Whether this boundary was expected here, so that nobody need look. Else the fast lane is over."""
        if self.on:
            node = self.node.get(token)
            if node is not None:
                self.node = node
                if node is self.root:
                    self.passed_iteration()
                return True
            self.end()
        self.note(token)
        return False

    def begin(self, iterations: int) -> None:
        self.on = True
        self.due = between_looks(iterations)
        self._follower(True)

    def passed_iteration(self) -> None:
        """The last boundary of an iteration went by in passing."""
        self.skipped += 1
        if self.skipped >= self.due:
            self.on_due()

    def end(self) -> None:
        if self.on:
            self._follower(False)
            self.unfinished = self.node is not self.root
            self.node = self.root
            self._path.clear()
            self.on = False  # last: whoever is interrupted before has not left

    @property
    def has_unseen(self) -> bool:
        """Whether boundaries went by that nobody has booked."""
        return self.skipped > 0 or self.unfinished

    def take_skipped(self) -> int:
        """The iterations that were let through, to be booked."""
        skipped, self.skipped, self.unfinished = self.skipped, 0, False
        return skipped
