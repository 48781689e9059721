"""One next observation for all rows: somebody has kept, again and again, the array that the environment writes into."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gradsan.judge.experience import Row
from gradsan.judge.history import History
from gradsan.judge.objective.weighed import DIFFERENCES, Met, met_in
from gradsan.judge.returns.bootstraps import summed_rewards
from gradsan.judge.returns.numpy_targets import successors
from gradsan.record.events import Backward, Op, Site

FEWEST = 8  # different observations


class SameSuccessor(NamedTuple):
    met: Met
    site: Site
    rows: int


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
