"""One-step targets of one step each, as an agent has them that learns while it acts, or sample by sample.

Those of many updates on the same line are looked at together, like a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gradsan.judge.experience import Row
from gradsan.judge.history import History
from gradsan.judge.lines.summed_numbers import added_to_at
from gradsan.judge.objective.weighed import Met
from gradsan.judge.returns.bootstraps import Bootstrap, Rest, are_rewards, difference
from gradsan.judge.returns.numpy_targets import Outside, arrival, turns_into
from gradsan.judge.returns.one_by_one import left_one_by_one, plain_targets
from gradsan.judge.returns.single_steps import added_number, row_behind
from gradsan.record.events import Backward, Op, Site, Transition

FEWEST = 6  # steps that go on


@dataclass(slots=True)
class _Line:
    """What was learned on one line so far. `paid`: what the target adds, where that was seen."""

    rows: list[Transition] = field(default_factory=list)
    targets: list[float] = field(default_factory=list)
    paid: list[float] = field(default_factory=list)
    values: list[tuple[float, ...]] = field(default_factory=list)

    def rest(self) -> list[Rest]:
        """What each target holds beside its reward; nothing as long as it is not known to hold rewards."""
        going_on = [i for i, row in enumerate(self.rows) if not row.end]
        if len(going_on) < FEWEST:
            return []
        paid = self.paid or [row.reward for row in self.rows]
        rests = [difference(target, reward) for target, reward in zip(self.targets, paid, strict=True)]
        if self.paid:
            known = are_rewards([(self.rows[i].reward, paid[i]) for i in going_on])
            return [Rest(*row, True) for row in zip(self.rows, rests, strict=True)] if known else []
        discount = turns_into([self.values[i] for i in going_on], [rests[i] for i in going_on])
        outside = Outside(discount, self.values)
        told = [
            i for i, row in enumerate(self.rows) if not row.end or not rests[i] or outside.holds(i, rests[i])
        ]
        return [Rest(self.rows[i], rests[i], True) for i in told] if discount else []


class SingleBootstraps:
    def __init__(self, history: History) -> None:
        self._history = history
        self._lines: dict[Site, _Line] = {}

    def found_in(self, event: Backward) -> Iterator[Bootstrap]:
        last: dict[Site, Met] = {}
        for met in plain_targets(self._history, event) if self._history.experience.successors else ():
            row = row_behind(self._history, met)
            if row is not None and row.end != "reset" and (site := self._note(met, row)):
                last[site] = met
        for site, met in last.items():
            if rest := self._lines[site].rest():
                del self._lines[site]
                yield Bootstrap(met, site, rest)

    def _note(self, met: Met, row: Transition) -> Site | None:
        """The line that makes the target, where what it takes was computed from where this very step has led."""
        summed = added_number(self._history, met.constant) if met.constant is not None else None
        if summed is not None and met.constant is not None:
            if not _asks_about(self._history, met.constant, row):
                return None
            line = self._lines.setdefault(summed[0].site, _Line())
            line.paid.append(summed[1])
            return self._add(summed[0].site, row, met.numbers[0])
        if met.constant is not None and arrival(self._history, met.constant) is None:
            return None
        left = left_one_by_one(self._history).get(row, [])
        if len({one.by.site for one in left}) != 1:
            return None
        site = added_to_at(self._history, left[0].by.site)
        self._lines.setdefault(site, _Line()).values.append(tuple([n for one in left for n in one.numbers]))
        return self._add(site, row, met.numbers[0])

    def _add(self, site: Site, row: Transition, target: float) -> Site:
        line = self._lines[site]
        line.rows.append(row)
        line.targets.append(target)
        return site


def _asks_about(history: History, target: Op, row: Row) -> bool:
    """Whether it holds a value of the state that this step has led to, and of no other."""
    successors = history.experience.successors
    led: Sequence[tuple[Row, ...]] = [
        successors[nid] for nid in history.graph.ancestors([target.nid]) if nid in successors
    ]
    return bool(led) and all(rows == (row,) for rows in led)
