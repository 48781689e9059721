"""Targets of one step each, as an agent has them that learns while it acts, or row by row of its memory.

One reward tells nothing; those of many updates on the same line tell as much as a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradsan.judge.experience import ExperienceBook, Row
from gradsan.judge.flow import SHAPING, TAKEN_OUT, behind_all
from gradsan.judge.history import History
from gradsan.judge.objective.weighed import DIFFERENCES, Met, met_in
from gradsan.judge.returns.bootstraps import are_rewards
from gradsan.judge.returns.misplaced_rewards import MisplacedRewards, Whose, are_of_neighbours, known_rows
from gradsan.record.events import Backward, Op, Site

FEWEST = 8  # updates: the first looks are a dozen


class SingleSteps:
    """By the line that adds the reward."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._rows: dict[Site, dict[Row, float]] = {}

    def rewards_in(self, event: Backward) -> Iterator[MisplacedRewards]:
        history, book = self._history, self._history.experience
        for met in met_in(history, event):
            if met.op.name not in DIFFERENCES or met.constant is None or len(met.numbers) != 1:
                continue
            row, found = row_behind(history, met), added_number(history, met.constant)
            if row is None or found is None:
                continue
            added, reward = found
            rows = self._rows.setdefault(added.site, {})
            rows[row] = reward
            if len(rows) > FEWEST:  # the first of an episode has none before it
                del self._rows[added.site]
                if whose := _whose_of_one(book, list(rows), list(rows.values())):
                    yield MisplacedRewards(met, added, whose, len(rows), False)


def row_behind(history: History, met: Met) -> Row:
    """By the one observation that it was computed from: nobody knows when it was."""
    book = history.experience
    behind = history.graph.ancestors([met.live.nid])
    found = {rows[0] for nid in behind if len(rows := book.observations.get(nid, ())) == 1}
    return found.pop() if len(found) == 1 else None


def added_number(history: History, target: Op) -> tuple[Op, float] | None:
    """The one number that is added to a learned one, where the target is nothing else."""
    graph, numbers = history.graph, history.experience.numbers
    op = behind_all(graph, target, SHAPING | TAKEN_OUT)
    sources = [source for source in graph.inputs(op) if source.floating] if op is not None else []
    learned = [bool(graph.value_params([source.nid])) for source in sources]
    if op is None or op.name != "add" or sum(learned) != 1:
        return None
    if len(sources) == 1:
        return (op, op.facts.scalars[0]) if len(op.facts.scalars) == 1 else None
    given = numbers.get(sources[learned.index(False)].nid, ())
    return (op, given[0]) if len(given) == 1 else None


def _whose_of_one(book: ExperienceBook, rows: Sequence[Row], rewards: Sequence[float]) -> Whose:
    if are_rewards([(row.reward, used) for row, used in known_rows(rows, rewards) if not row.end]):
        return "own"
    return "before" if are_of_neighbours(book, rows, rewards, -1, FEWEST) else ""
