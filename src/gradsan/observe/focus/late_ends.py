"""Waiting for ends of episodes: what a target does there can be told only from batches that hold some.

A replay memory is learned from long before the first episode is over, and the first look sees no end at all. So where
it has seen few, another one is taken when enough of them have come."""

from __future__ import annotations

from collections.abc import Callable

ENOUGH = (4, 32)  # ends: a batch drawn from all that was seen holds few of them


class LateEnds:
    def __init__(self, count: Callable[[], int]) -> None:
        self._count = count
        self._awaited: tuple[int, ...] | None = None

    def look_ended(self) -> None:
        """Only the first look says what is still missing."""
        if self._awaited is None:
            self._awaited = ENOUGH if self._count() < ENOUGH[0] else ()

    def have_come(self) -> bool:
        if not self._awaited or (count := self._count()) < self._awaited[0]:
            return False
        self._awaited = tuple(enough for enough in self._awaited if enough > count)
        return True
