"""Steps that come before their backward: a line's first step found nothing, and nothing had just been thrown away."""

from __future__ import annotations

from gradsan.judge.history import History
from gradsan.judge.ledger import Contribution
from gradsan.record.events import BackwardId, OptimizerId, ParamId, Site, Step

BEFORE_ALL = BackwardId(0)


class FirstSteps:
    def __init__(self, history: History) -> None:
        self._history = history
        self._began: dict[tuple[OptimizerId, Site], BackwardId | None] = {}

    def began_empty(self, event: Step) -> bool:
        """To be asked at every step. A phase of its own begins with a line that has not stepped before."""
        key = (event.oid, event.site)
        if key not in self._began:
            self._began[key] = None if event.held or self._has_lost(event) else self._latest()
        return self._began[key] is not None

    def only_wiped_since(self, event: Step) -> bool:
        return self.only_wiped(event, self._began.get((event.oid, event.site)) or BEFORE_ALL)

    def only_wiped(self, event: Step, after: BackwardId = BEFORE_ALL) -> bool:
        """Backwards have fed its parameters since then, and nobody has consumed what they put there."""
        fed = [c for c in self._feeding(event) if c.bid > after]
        return bool(fed) and not any(c.consumed_pids() & self._owned(event) for c in fed)

    def _has_lost(self, event: Step) -> bool:
        return any(not c.consumed_pids() & self._owned(event) for c in self._feeding(event))

    def _feeding(self, event: Step) -> list[Contribution]:
        owned = self._owned(event)
        return [c for c in self._history.ledger.recent.values() if owned & set(c.event.fed)]

    def _owned(self, event: Step) -> set[ParamId]:
        return set(self._history.optimizers[event.oid].params)

    def _latest(self) -> BackwardId:
        return max(self._history.ledger.recent, default=BEFORE_ALL)
