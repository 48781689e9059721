"""A network that acts for the one that is trained, and is copied from it only after the first update."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradsan.judge.lines.callers import way
from gradsan.judge.objective import scores
from gradsan.judge.objective.scores import Difference
from gradsan.record.events import NOWHERE, Op, ParamId, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History


@dataclass(slots=True)
class Stranger:
    """The weights that drew the data and those that learned from it, when nothing had been copied yet."""

    old: frozenset[ParamId]
    new: frozenset[ParamId]
    low: float
    high: float
    ratio: Site
    scored: Site
    backward: Site


class Strangers:
    """A ratio that is clipped around one compares two networks of random weights; later on the one is a copy of the
    other, so it was meant to be one from the beginning. One that never becomes a copy is another policy."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._seen: dict[frozenset[ParamId], Stranger] = {}
        self._known: set[frozenset[ParamId]] = set()  # told, or copied when it was first met

    def meet(self, difference: Difference, ratio: Op, backward: Site) -> None:
        history = self._history
        old, new = self._weights(difference.constant), self._weights(difference.live)
        if not old or old in self._known or old in self._seen:
            return
        if self._are_drawn_apart(old, new):
            low, high = difference.low, difference.high
            scored = scores.line_that_scored(history, difference)
            self._seen[old] = Stranger(old, new, low, high, ratio.site, scored, backward)
        else:
            self._known.add(old)

    def _weights(self, side: Op) -> frozenset[ParamId]:
        return frozenset(scores.reads(self._history, scores.scoring(self._history.graph, side)))

    def _are_drawn_apart(self, old: frozenset[ParamId], new: frozenset[ParamId]) -> bool:
        """Both at random, by whom nothing was ever copied or loaded, and only one of them is trained."""
        history, networks = self._history, self._history.networks
        return (
            old.isdisjoint(new)
            and all(history.can_be_stepped(pid) for pid in new)
            and not any(history.owner_of(pid) or pid in networks.copies for pid in old)
            and not any(pid in networks.loaded for pid in old | new)
        )

    def that_became_copies(self) -> Iterator[Stranger]:
        copies = self._history.networks.copies
        for old, stranger in list(self._seen.items()):
            found = [copies.get(pid) for pid in old]
            if all(c is not None and c.how == "load_state_dict" and c.source in stranger.new for c in found):
                self._known.add(old)
                yield self._seen.pop(old)

    def that_agree(self, difference: Difference) -> Iterator[Stranger]:
        """However it was copied: by now the two say the same."""
        if not self._seen or difference.largest > scores.SAME:
            return
        old = self._weights(difference.constant)
        if old in self._seen and self._weights(difference.live) == self._seen[old].new:
            self._known.add(old)
            yield self._seen.pop(old)

    def made_at(self, stranger: Stranger) -> Site:
        """The line that made the one that acts, and not the other."""
        history = self._history
        ours, theirs = (self._ways(pids) for pids in (stranger.old, stranger.new))
        return next((site for site in ours if site not in theirs and site in history.sites), NOWHERE)

    def _ways(self, pids: frozenset[ParamId]) -> list[Site]:
        params = [self._history.params[pid] for pid in sorted(pids)]
        return [site for p in params for site in way(self._history, p.created, p.created_by)]
