"""Targets of which the loss sees a part: the whole rollout is read, once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradsan.judge.history import History
from gradsan.judge.lines.running_sums import added_at
from gradsan.judge.objective.weighed import WRITTEN, Met
from gradsan.judge.returns.across_ends import AcrossEnds, cut_at_resets, cut_beside, law_of
from gradsan.judge.returns.masked_baselines import FIX, MASKED_BASELINE, share_of_own_value
from gradsan.judge.returns.misaligned import ENOUGH_UPDATES, Memory, Misaligned, return_that
from gradsan.judge.returns.other_orders import OtherOrders
from gradsan.judge.returns.reordered import disorder_of_advantages
from gradsan.judge.returns.return_laws import ReturnRow, Series
from gradsan.judge.returns.rollout_sums import rollouts, values_alone
from gradsan.record.events import Backward, Op, Site

PLENTY = 64  # steps of one update: of a long rollout the first looks see no other


class WholeRollouts:
    """Asked by whoever has a target."""

    def __init__(self, history: History, memory: Memory) -> None:
        self._history, self._memory = history, memory
        self._ends, self._orders = AcrossEnds(history, memory), OtherOrders(history, memory)

    def judge(self, event: Backward, met: Met, rows: Sequence[ReturnRow]) -> Iterator[Misaligned]:
        read = self._memory.read
        if (op := values_alone(self._history, met)) is not None and op.nid not in read:
            read.add(op.nid)
            yield from self._without_rewards(event, met, op)
        for op, entries in rollouts(self._history, met, rows):
            series = Series(entries)
            if op.nid in read or not series.is_large_enough():
                continue
            if (late := cut_at_resets(series)) is not None:
                read.add(op.nid)
                yield from self._ends.beside(event, met, op.site, late)
            elif share := share_of_own_value(series):
                read.add(op.nid)
                yield from self._masked_baseline(event, met, op, share, len(series.pairs))
            elif (law := law_of(series)) is not None:
                read.add(op.nid)
                yield from self._ends.judge(event, met, op.site, series, law)
            elif (found := cut_beside(series)) is not None:
                read.add(op.nid)
                yield from self._ends.beside(event, met, op.site, found)
            elif how := disorder_of_advantages(series):
                read.add(op.nid)
                yield from self._orders.judge(event, met, op.site, how, len(series.pairs))

    def _masked_baseline(
        self, event: Backward, met: Met, op: Op, share: float, steps: int
    ) -> Iterator[Misaligned]:
        seen = self._memory.at(op.site, met)
        seen.from_itself += 1
        enough = steps >= PLENTY or seen.from_itself >= ENOUGH_UPDATES
        if enough and not seen.right:
            text = MASKED_BASELINE.format(steps=steps, share=share)
            where = self._estimated_at(op)
            yield return_that(self._history, event, met, op.site, text, where, fix=FIX)

    def _estimated_at(self, total: Op) -> Site:
        """Where the loop adds up what is written into the summand that is filled step by step."""
        found = added_at(self._history, total.site)
        written = {part.site for part in self._history.graph.inputs(total) if part.name in WRITTEN}
        return added_at(self._history, written.pop()) if found == total.site and len(written) == 1 else found

    def _without_rewards(self, event: Backward, met: Met, op: Op) -> Iterator[Misaligned]:
        seen = self._memory.at(op.site, met)
        seen.values_alone += 1
        if seen.values_alone >= ENOUGH_UPDATES and not seen.right:
            text = f"is its own predictions plus zeros, at all {op.shape[0]} steps: no reward is in it"
            yield return_that(self._history, event, met, op.site, text)
