"""A sketch of the ledger, enough to notice what passes no tap: who holds a gradient, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable

from gradsan.observe.focus.manual_loops import ManualLoops
from gradsan.record.events import ParamId


class GradientSketch:
    def __init__(self) -> None:
        self.manual_loops = ManualLoops()
        self._holding: set[ParamId] = set()  # leaves whose `.grad` is known to hold something
        self._spent: set[ParamId] = set()  # those of them that a step has consumed already
        self._fresh: set[ParamId] = set()  # fed since the last step
        self._ever_fed: set[ParamId] = set()
        self._versions: dict[ParamId, int] = {}  # of the weights, when they were fed
        self._left: dict[ParamId, int] = {}  # which tensor the last backward left as the gradient

    def fed(self, pids: Iterable[ParamId], left: Iterable[int] = (), versions: Iterable[int] = ()) -> None:
        """Backward has written to their gradients, and has `left` these tensors there; the weights are of these
        `versions`."""
        for table in (self._holding, self._fresh, self._ever_fed):
            table.update(pids)
        self._left.update(zip(pids, left, strict=False))
        self._versions.update(zip(pids, versions, strict=False))

    def consumed(self, held: Iterable[ParamId], by_hand: Iterable[ParamId], lent: Iterable[ParamId]) -> None:
        """A step takes what these hold; some got it by hand, and some lent theirs to those."""
        self._holding.update(by_hand)
        self._spent.update(held)
        self._spent.update(lent)
        self._fresh.difference_update(held)

    def cleared(self, pids: Iterable[ParamId]) -> None:
        self.manual_loops.gradients_cleared()
        for table in (self._holding, self._spent, self._fresh):
            table.difference_update(pids)
        for pid in pids:
            self._left.pop(pid, None)

    def reborn(self, pids: Iterable[ParamId]) -> None:
        """Their numbers now stand for other leaves."""
        self.cleared(pids)
        self._ever_fed.difference_update(pids)

    def lost_track(self) -> None:
        """Boundaries went by unseen: whatever the gradients hold now is of unknown origin."""
        for table in (self._holding, self._spent, self._fresh):
            table.clear()
        self._left.clear()
        self.manual_loops.gradients_cleared()  # for all we know

    # -- questions ------------------------------------------------------------------------------------

    def holds(self, pid: ParamId) -> bool:
        return pid in self._holding

    def is_spent(self, pid: ParamId) -> bool:
        return pid in self._spent

    def is_spent_and_not_fed_again(self, pid: ParamId) -> bool:
        return pid in self._spent and pid not in self._fresh

    def is_another(self, pid: ParamId, grad: int) -> bool:
        """Whether the gradient is not the tensor that backward left: somebody has put it there since."""
        return self._left.get(pid, grad) != grad

    def waiting(self) -> list[tuple[ParamId, int]]:
        """Fed since the last step that took them, with the version that the weights had then."""
        return [(pid, self._versions[pid]) for pid in sorted(self._fresh) if pid in self._versions]

    def was_ever_fed(self, pid: ParamId | None) -> bool:
        return pid in self._ever_fed

    def holders_beside(self, pids: Iterable[ParamId]) -> list[ParamId]:
        return sorted(self._holding.difference(pids))
