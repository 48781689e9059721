"""One next observation for all rows: somebody has kept, again and again, the array that the environment writes into."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gradsan.judge.experience import Row
from gradsan.judge.history import History
from gradsan.judge.lines.stored_rows import stored_at
from gradsan.judge.objective.weighed import DIFFERENCES, Met, met_in
from gradsan.judge.returns.bootstraps import summed_rewards
from gradsan.judge.returns.misaligned import ENOUGH_UPDATES, Memory, Misaligned, return_that
from gradsan.judge.returns.numpy_targets import successors
from gradsan.record.events import Backward, Op, Site

FEWEST = 8  # different observations
TEXT = "takes, at all {rows} rows, the value of one and the same next observation, the newest"


class SameSuccessor(NamedTuple):
    met: Met
    site: Site
    rows: int


class SameSuccessors:
    def __init__(self, history: History, memory: Memory) -> None:
        self._history, self._memory = history, memory

    def found_in(self, event: Backward) -> Iterator[Misaligned]:
        history = self._history
        for met, site, rows in same_successors_in(history, event):
            seen = self._memory.at(site, met)
            seen.same_successor += 1
            if seen.same_successor >= ENOUGH_UPDATES:
                yield return_that(
                    history, event, met, site, TEXT.format(rows=rows), stored_at(history, site),
                    fix="keep a copy: `obs.copy()`; the environment writes what it sees into one array",
                )  # fmt: skip


def same_successors_in(history: History, event: Backward) -> Iterator[SameSuccessor]:
    book = history.experience
    for met in met_in(history, event):
        if met.op.name not in DIFFERENCES or met.constant is None:
            continue
        rows = book.rows_behind(met.live, len(met.numbers))
        if rows is None or len(set(rows) - {None}) < FEWEST or successors(history, met.constant, rows):
            continue
        found = summed_rewards(history, met)
        if found is not None and _is_one_for_all(history, met.constant, rows):
            yield SameSuccessor(met, found[0].site, len(rows))


def _is_one_for_all(history: History, target: Op, rows: Sequence[Row]) -> bool:
    book = history.experience
    for nid in history.graph.ancestors([target.nid]):
        for table in (book.successors, book.observations):
            seen = table.get(nid, ())
            if len(seen) == len(rows) and None not in seen and len(set(seen)) == 1:
                return True
    return False
