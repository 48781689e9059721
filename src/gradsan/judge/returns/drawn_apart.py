"""Returns of other rows: a loss sees a part of `returns = advantages + values`, and predictions for another part.

A row of the targets is found again by its value in the sum. What the network predicts for a row is found again in the
values that were summed, as long as its weights are those that predicted them: in the first part of a rollout."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from gradsan.judge.history import History
from gradsan.judge.objective.weighed import Met, met_in
from gradsan.judge.returns.misaligned import ENOUGH_UPDATES, Memory, Misaligned, return_that
from gradsan.judge.returns.rollout_sums import places_of, single, sum_behind
from gradsan.record.events import Backward, Op

FEWEST = 8  # rows that are found again, in both
NEAR = 1e-5  # of the range of the values
TEXT = "meets, at each of {rows} rows, the prediction for another row: they were not drawn together"


class DrawnApart:
    def __init__(self, history: History, memory: Memory) -> None:
        self._history, self._memory = history, memory

    def found_in(self, event: Backward) -> Iterator[Misaligned]:
        for met in met_in(self._history, event):
            if met.op.name == "mul" or met.constant is None:
                continue
            if (found := drawn_apart(self._history, met)) is None:
                continue
            seen = self._memory.at(met.constant.site, met)
            seen.drawn_apart += 1
            if seen.drawn_apart >= ENOUGH_UPDATES:
                yield return_that(
                    self._history, event, met, found[0].site, TEXT.format(rows=found[1]), met.constant.site,
                    fix="take observations and returns with the same indices",
                )  # fmt: skip


def drawn_apart(history: History, met: Met) -> tuple[Op, int] | None:
    """The sum, and how many rows meet the prediction of another one, where (nearly) all do."""
    graph, numbers = history.graph, history.experience.numbers
    found = sum_behind(history, met)
    predicted = numbers.get(met.live.nid, ())
    if found is None or not FEWEST <= len(predicted) == len(met.numbers) < len(found[1]):
        return None
    op, left, right = found
    own = graph.live_params([met.live.nid])
    total = [single(a + b) for a, b in zip(left, right, strict=True)]
    taken = places_of(total, met.numbers)
    for nid, values in zip(op.inputs, (left, right), strict=True):
        if own & graph.value_params([nid]):
            asked = _nearest(values, predicted)
            both = [(a, b) for a, b in zip(taken, asked, strict=True) if a >= 0 and b >= 0]
            apart = sum(a != b for a, b in both)
            # Of weights that have moved since, some predictions are near one of the many values by chance.
            are_known = len(both) >= FEWEST and 2 * len(both) >= len(predicted)
            if are_known and 10 * apart >= 9 * len(both):
                return op, apart
    return None


def _nearest(values: Sequence[float], wanted: Sequence[float]) -> list[int]:
    """Where each number is among the values; -1 where none, or more than one, is near."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranked = [values[place] for place in order]
    near = NEAR * (ranked[-1] - ranked[0])
    found: list[int] = []
    for number in wanted:
        first, last = bisect_left(ranked, number - near), bisect_left(ranked, number + near)
        found.append(order[first] if last == first + 1 else -1)
    return found
