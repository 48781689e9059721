"""The gradient ledger: for every parameter, which backward calls its `.grad` consists of right now.

It knows nothing of PyTorch: it is told, by number, who fed, cleared and consumed what.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gradsan.record.events import Backward, BackwardId, OptimizerId, ParamId, Site

if TYPE_CHECKING:
    from gradsan.judge.missing.cuts import Cut

BY_HAND = BackwardId(0)  # the `bid` of gradient that user code wrote itself


@dataclass(slots=True)
class Consumption:
    """One optimizer step, and what it took from one backward."""

    oid: OptimizerId
    site: Site
    step: int
    pids: set[ParamId]


@dataclass(slots=True)
class Contribution:
    """What one backward call put into the gradients, and what became of it."""

    event: Backward
    iteration: int
    consumed: list[Consumption] = field(default_factory=list)
    by_hand: dict[ParamId, Site] = field(
        default_factory=dict
    )  # parameters that the script itself updated with it
    wiped: dict[Site, set[ParamId]] = field(default_factory=dict)
    settled: bool = False
    unseen: bool = (
        False  # iterations have gone by since that were only counted: a step may have taken it there
    )
    cuts: list[Cut] = field(default_factory=list)  # that matter, known once it is settled

    @property
    def bid(self) -> BackwardId:
        return self.event.bid

    @property
    def site(self) -> Site:
        return self.event.site

    def consumers(self) -> set[OptimizerId]:
        return {c.oid for c in self.consumed}

    def consumed_pids(self) -> set[ParamId]:
        """By optimizers, and by the script's own updates."""
        return {pid for c in self.consumed for pid in c.pids}.union(self.by_hand)


class Ledger:
    def __init__(self) -> None:
        self.parts: dict[ParamId, list[Contribution]] = {}
        self.recent: dict[BackwardId, Contribution] = {}
        self._steps = 0

    def fed(self, event: Backward, iteration: int) -> Contribution:
        contribution = self.recent[event.bid] = Contribution(event, iteration)
        for pid in event.fed:
            parts = self.parts.setdefault(pid, [])
            parts.append(contribution)
            if len(parts) > 256:  # a gradient that nobody ever clears: its oldest parts say nothing new
                del parts[:128]
        return contribution

    def by_hand(self, pids: Iterable[ParamId], iteration: int, site: Site) -> None:
        event = Backward(BY_HAND, site, "hand", (), (), tuple(pids))
        contribution = Contribution(event, iteration)
        for pid in event.fed:
            self.parts.setdefault(pid, []).append(contribution)

    def cleared(self, pids: Iterable[ParamId], site: Site) -> set[BackwardId]:
        """Forget what these gradients consist of; say which of it nobody had consumed."""
        lost: set[BackwardId] = set()
        for pid in pids:
            for part in self.parts.pop(pid, ()):
                if not part.unseen and not any(pid in c.pids for c in part.consumed):
                    part.wiped.setdefault(site, set()).add(pid)
                    lost.add(part.bid)
        return lost

    def fresh(self, pid: ParamId) -> list[Contribution]:
        """The parts of this gradient that no step has consumed yet."""
        return [p for p in self.parts.get(pid, ()) if not any(pid in c.pids for c in p.consumed)]

    def unclaimed(self, pid: ParamId) -> list[Contribution]:
        """As `fresh`, where it is certain that nobody has taken them."""
        return [part for part in self.fresh(pid) if not part.unseen]

    def lost_sight(self) -> None:
        """Iterations went by that were only counted."""
        for parts in self.parts.values():
            for part in parts:
                part.unseen = True

    def stale(self, pid: ParamId) -> list[Contribution]:
        return [p for p in self.parts.get(pid, ()) if any(pid in c.pids for c in p.consumed)]

    def consumed(self, oid: OptimizerId, site: Site, pids: Iterable[ParamId]) -> None:
        self._steps += 1
        taken: dict[int, Consumption] = {}
        for pid in pids:
            for part in self.parts.get(pid, ()):
                record = taken.get(id(part))
                if record is None:
                    record = taken[id(part)] = Consumption(oid, site, self._steps, set())
                    part.consumed.append(record)
                    del part.consumed[:-16]
                record.pids.add(pid)

    def forget_before(self, iteration: int) -> None:
        for bid in [b for b, c in self.recent.items() if c.iteration < iteration]:
            del self.recent[bid]
