"""n-step targets of shuffled rows: whether the rewards of a window stop with its episode."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.history import History
from gradsan.judge.objective.weighed import Met, origin
from gradsan.judge.returns.bootstraps import summed_rewards
from gradsan.judge.returns.misaligned import ENOUGH_BORDERS, Memory, Misaligned, return_that
from gradsan.judge.returns.numpy_targets import arrival
from gradsan.judge.returns.windows import Window, crossings, discount_of, windows_behind
from gradsan.record.events import Backward, Op, Site


class WindowEnds:
    """Asked by whoever has a target."""

    def __init__(self, history: History, memory: Memory) -> None:
        self._history, self._memory = history, memory

    def judge(self, event: Backward, met: Met, target: Op) -> Iterator[Misaligned]:
        book = self._history.experience
        if not book.successors or (rows := book.rows_behind(met.live, len(met.numbers))) is None:
            return
        windows = windows_behind(self._history, target, rows)
        found = summed_rewards(self._history, met) if windows else None
        discount = discount_of(windows, found[1]) if found is not None else 0.0
        if found is not None and discount:
            yield from self._crossings(event, met, self._summed_at(*found), windows, found[1], discount)

    def _crossings(
        self, event: Backward, met: Met, culprit: Site, windows: list[Window | None], totals: tuple[float, ...],
        discount: float,
    ) -> Iterator[Misaligned]:  # fmt: skip
        seen = self._memory.at(culprit, met)
        crossed, stopped = crossings(windows, totals, discount)
        seen.crossed += crossed
        seen.stopped += stopped
        if crossed and seen.crossed >= ENOUGH_BORDERS and not seen.stopped:
            steps = max(len(w.rewards) for w in windows if w is not None)
            yield return_that(
                self._history, event, met, culprit,
                f"sums up {steps} steps each, discounted by {discount:.4g}, also across the ends of episodes: at "
                f"{seen.crossed} rows it holds rewards of the next episode",
            )  # fmt: skip

    def _summed_at(self, added: Op, totals: tuple[float, ...]) -> Site:
        graph, numbers = self._history.graph, self._history.experience.numbers
        data = next(source for source in graph.inputs(added) if numbers.get(source.nid) == totals)
        culprit, arrived = origin(self._history, data), arrival(self._history, data)
        # Where a batch came into torch is not where it was summed up: nobody saw that.
        return added.site if arrived is not None and culprit == arrived.site else culprit
