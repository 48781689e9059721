"""Waiting for a loss that comes back: a branch that is taken every k-th update.

The first time, its forward has gone by before anybody knew of it, and the next time is long after the closer look is
over. But a loop has a rhythm: what came after so many iterations, or so many after the last time, is expected after
as many again, and its forward is traced then."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from gradsan.observe.focus.fast_path import MOST_BETWEEN_LOOKS

WANTED = 3  # traced backwards of a loss: then nothing new is to be learned from it
TRIES = 8
LOSSES = 16  # a script of which no two graphs are alike has no rhythm
NEVER = 1 << 60


@dataclass(slots=True)
class _Loss:
    last: int
    traced: int = 0
    tries: int = 0
    expected: int = NEVER
    early: int = 0  # iterations: to look so long before, and after


class Returning:
    def __init__(self, often: int) -> None:
        self._often = often  # what comes back within so many iterations is seen anyway
        self._losses: dict[Hashable, _Loss] = {}
        self.next = NEVER  # the iteration from which on to look

    def seen(self, key: Hashable, iteration: int, traced: bool) -> None:
        known = self._losses.get(key)
        if known is not None and known.traced >= WANTED:
            return
        if known is None and len(self._losses) >= LOSSES:
            return
        loss = self._losses[key] = known or _Loss(iteration)
        gap = iteration - loss.last if known is not None else iteration
        loss.traced += traced
        loss.last = iteration
        loss.expected = NEVER
        if self._often < gap < MOST_BETWEEN_LOOKS and loss.traced < WANTED and loss.tries < TRIES:
            loss.tries += 1
            loss.expected, loss.early = iteration + gap, 1 if known is not None else 3
        self._find_next()

    def length(self, iteration: int) -> int:
        """For how many iterations to look now; 0 where nothing is expected."""
        due = [loss for loss in self._losses.values() if loss.expected - loss.early <= iteration]
        found = max((loss.expected + loss.early - iteration + 1 for loss in due), default=0)
        for loss in due:
            loss.expected = NEVER  # until it is seen again
        self._find_next()
        return max(found, 0)

    def _find_next(self) -> None:
        awaited = [loss for loss in self._losses.values() if loss.expected != NEVER]
        self.next = min((loss.expected - loss.early for loss in awaited), default=NEVER)
