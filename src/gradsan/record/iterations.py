"""What counts as one iteration: the stretch from one step of the leading optimizer to the next.

The one with the most steps leads; where it falls silent and another goes on (pretraining, then training),
that one takes over. A script that updates its parameters by hand has no steps: there the observer says when
a turn of its loop is over."""

from __future__ import annotations

TAKE_OVER = 8  # steps of one optimizer without one of the leader's


class Iterations:
    def __init__(self) -> None:
        self.count = 0
        self._steps: dict[int, int] = {}
        self._since: dict[int, int] = {}  # steps of the others since the last iteration ended

    def step(self, oid: int) -> bool:
        """An optimizer has stepped: is an iteration over?"""
        steps = self._steps[oid] = self._steps.get(oid, 0) + 1
        if steps <= self.count:
            since = self._since[oid] = self._since.get(oid, 0) + 1
            if since < TAKE_OVER:
                return False
            self._steps[oid] = self.count + 1
        self.turn()
        return True

    def turn(self) -> None:
        self.count += 1
        self._since.clear()

    def skip(self, iterations: int) -> None:
        """So many went by like known ones."""
        for oid, steps in self._steps.items():
            if steps == self.count:
                self._steps[oid] += iterations
        self.count += iterations
