"""Steps that come before their backward in one of several phases: each round the line finds nothing, and what the next
backward puts there is thrown away before anybody has taken it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.judge.ledger import Contribution
from gradsan.record.events import Backward, BackwardId, OptimizerId, ParamId, Site, Step

if TYPE_CHECKING:
    from gradsan.judge.history import History

Line = tuple[OptimizerId, Site]


class EarlySteps:
    def __init__(self, history: History) -> None:
        self._history = history
        self._empty: set[Line] = set()  # lines that have just stepped and found nothing
        self._next: dict[
            BackwardId, set[Line]
        ] = {}  # by the first backward since then that feeds the same parameters
        self._in_vain: dict[Line, int] = {}
        self._right: set[Line] = set()
        self._seen: set[Line] = set()

    def stepped(self, event: Step) -> None:
        line = (event.oid, event.site)
        filled = any(self._history.ledger.parts.get(pid) for pid in event.held)
        first = line not in self._seen
        self._seen.add(line)
        if filled or (first and self._has_just_lost(line)):
            self._right.add(line)
        else:
            self._empty.add(line)

    def _has_just_lost(self, line: Line) -> bool:
        """What it was to take was thrown away before: that is another mistake."""
        owned, recent = self._owned(line), reversed(self._history.ledger.recent.values())
        last = next((c for c in recent if not owned.isdisjoint(c.event.fed)), None)
        return last is not None and not last.consumed_pids()

    def went_backward(self, event: Backward) -> None:
        followed = {line for line in self._empty if not self._owned(line).isdisjoint(event.fed)}
        self._empty -= followed
        if followed:
            self._next[event.bid] = followed

    def settled(self, contribution: Contribution) -> list[tuple[Line, int]]:
        """The lines whose empty step came before this backward, and how often that was all in vain."""
        lines = self._next.pop(contribution.bid, set())
        if contribution.consumed_pids():
            self._right |= lines
        for line in lines - self._right:
            self._in_vain[line] = self._in_vain.get(line, 0) + 1
        return [(line, self._in_vain[line]) for line in lines - self._right]

    def _owned(self, line: Line) -> set[ParamId]:
        return set(self._history.optimizers[line[0]].params)
