"""Targets with the rewards of other steps: of whole batches, and of one step at a time."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.history import History
from gradsan.judge.lines.arrival_lines import ARRIVING
from gradsan.judge.returns.misaligned import ENOUGH_UPDATES, Memory, Misaligned, return_that, summed_at
from gradsan.judge.returns.misplaced_rewards import MisplacedRewards, Whose, put_at, rewards_in
from gradsan.judge.returns.single_steps import SingleSteps
from gradsan.record.events import Backward

TEXTS: dict[Whose, str] = {
    "before": "adds, at each of {rows} rows, the reward of the step before the one that its observation is about: what "
    "was paid before the action was taken",
    "after": "adds, at each of {rows} rows, the reward of the step after the one that its observation is about",
    "of another copy": "adds, at each of {rows} rows, the reward that another copy of the environment was given",
    "elsewhere": "adds, at each of {rows} rows, the reward of another step than the one that its observation is about: "
    "they were not drawn together",
}
FIX = (
    "keep an observation, its action and what they brought in one row, once the step is taken; draw all columns with \
the same indices"
)


class RewardsOfOthers:
    def __init__(self, history: History, memory: Memory) -> None:
        self._history, self._memory = history, memory
        self._single = SingleSteps(history)

    def found_in(self, event: Backward) -> Iterator[Misaligned]:
        for found in rewards_in(self._history, event):
            yield from self._judge(event, found, 1)
        for found in self._single.rewards_in(event):  # of many updates together
            yield from self._judge(event, found, ENOUGH_UPDATES)

    def _judge(self, event: Backward, found: MisplacedRewards, updates: int) -> Iterator[Misaligned]:
        if self._memory.late and found.whose == "before":
            return
        history, seen = self._history, self._memory.at(found.added.site, found.met)
        seen.in_place += found.whose == "own"
        seen.misplaced += updates * (found.whose != "own")
        if found.whose != "own" and seen.misplaced >= ENOUGH_UPDATES and not seen.in_place:
            text = TEXTS[found.whose].format(rows=found.rows)
            made = summed_at(history, found.met) if found.added.name in ARRIVING else found.added.site
            yield return_that(history, event, found.met, made, text, put_at(history, found), FIX)
