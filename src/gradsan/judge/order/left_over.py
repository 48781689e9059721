"""Gradient that was left lying because a step did not come, and that the next step takes along.

Nothing here was consumed twice, so the ledger alone cannot tell it from accumulation. Two things can: the losses are
divided by the number of those that are meant to go into a step, or a loop is left between backward and step, or
every other step takes exactly one.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from gradsan.judge.flow import first_scalar
from gradsan.judge.ledger import BY_HAND, Contribution
from gradsan.judge.lines.source import left_between
from gradsan.record.events import NOWHERE, OptimizerId, Site, Step

if TYPE_CHECKING:
    from gradsan.judge.history import History

STEPS = 8  # that took one backward each, for one that takes more to be an exception
AFTERWARDS = 3  # further steps that take one again: else the script has begun to accumulate
RARE = 1 / 3


class LeftOver(NamedTuple):
    """`parts` of one line that a step takes, where it usually takes `usual`."""

    step: Step
    parts: list[Contribution]
    usual: int
    certain: bool
    left_at: Site = NOWHERE


class LeftOverBook:
    def __init__(self, history: History) -> None:
        self._history = history
        self._taken: dict[tuple[OptimizerId, Site], Counter[int]] = {}
        self._waiting: dict[tuple[OptimizerId, Site], tuple[LeftOver, int]] = {}

    def look(self, event: Step) -> LeftOver | None:
        """Called before the step consumes anything."""
        parts = self._fresh(event)
        if not parts or len({part.site for part in parts}) != 1:
            return None
        key, number = (event.oid, parts[0].site), len(parts)
        taken = self._taken.setdefault(key, Counter())
        wanted = self._divisor(parts[-1])
        regular = taken[wanted] if wanted > 1 else 0
        taken[number] += 1
        if regular > 1 and number > wanted and taken[number] > 1:
            return LeftOver(event, parts, wanted, True)
        if number > 1 and taken[1] > 1 and taken[number] > 1 and (left := self._left_at(event, parts[-1])):
            return LeftOver(event, parts, 1, True, left)
        return self._exception(key, LeftOver(event, parts, 1, False), taken)

    def _exception(
        self, key: tuple[OptimizerId, Site], now: LeftOver, taken: Counter[int]
    ) -> LeftOver | None:
        """One that took two, once it is certain that those after it take one again."""
        if len(now.parts) == 2 and taken[1] >= STEPS:
            self._waiting.setdefault(key, (now, taken[1]))
            return None
        if len(now.parts) != 1 or key not in self._waiting:
            return None
        found, before = self._waiting[key]
        others = sum(times for number, times in taken.items() if number != 1)
        if taken[1] - before < AFTERWARDS or others > RARE * taken[1] or set(taken) - {1, 2}:
            return None
        del self._waiting[key]
        return found

    def _left_at(self, event: Step, part: Contribution) -> Site:
        """The `break` that leaves the loop between the backward and the step."""
        sites = self._history.sites
        first, last = sites.get(part.site), sites.get(event.site)
        if first is None or last is None or (first.file, first.function) != (last.file, last.function):
            return NOWHERE
        at = left_between(first.file, first.line, last.line)
        return self._history.site_at(first.file, at, first.function) if at else NOWHERE

    def _fresh(self, event: Step) -> list[Contribution]:
        ledger = self._history.ledger
        held = [pid for pid in event.held if pid not in event.by_hand]
        parts = [ledger.fresh(pid) for pid in held]
        longest = max(parts, key=len, default=[])
        return [part for part in longest if part.bid != BY_HAND]

    def _divisor(self, part: Contribution) -> int:
        """The whole number that the loss was divided by last of all; 0 where there is none."""
        for root in part.event.roots:
            op = self._history.graph.get(root.nid)
            if op is not None and op.facts.scalars and len(op.inputs) == 1:
                factor = first_scalar(op)
                number = factor if op.name == "div" else 1 / factor if op.name == "mul" and factor else 0.0
                if number > 1 and abs(number - round(number)) < 1e-6:
                    return round(number)
        return 0
