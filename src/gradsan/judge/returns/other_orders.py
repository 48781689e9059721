"""Returns that obey their law only at other steps than those they stand at."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gradsan.judge.history import History
from gradsan.judge.lines.running_sums import carried_on_at, filled_at
from gradsan.judge.lines.stored_rows import reward_stored_at
from gradsan.judge.objective.weighed import Met, laid_out_at
from gradsan.judge.returns.misaligned import ENOUGH_UPDATES, Memory, Misaligned, return_that
from gradsan.judge.returns.reordered import Disorder
from gradsan.record.events import Backward, Site

TEXTS: dict[Disorder, str] = {
    "reversed": "holds, at {steps} steps, the returns from the last to the first: each is that of another step",
    "reversed sums of the past": "holds, at {steps} steps, sums of the rewards before another step: it runs with time "
    "and is put together against it",
    "late": "is, at each of {steps} steps, the return of the step after it: what its own action brought is not in it",
    "early": "is, at each of {steps} steps, the return of the step before it: it begins with what had been paid before "
    "its own action",
    "rewards before": "is made, at each of {steps} steps, of the reward of the step before it: what had been paid "
    "before its own action",
    "rewards after": "is made, at each of {steps} steps, of the reward of the step after it: what its own action "
    "brought is not in it",
    "by the copies": "is put in order copy by copy, and what it meets step by step, or the other way round: each of "
    "{steps} numbers is the return of another step",
    "sums of the past": "is carried on from the first step to the last, at each of {steps}: it holds the errors that "
    "came before, not those that follow",
}
# In the wrong order it is the list that is wrong, not the sum.
WHERE: dict[Disorder, Callable[[History, Site], Site]] = {
    "reversed": filled_at, "early": reward_stored_at, "rewards before": reward_stored_at,
    "rewards after": reward_stored_at,
}  # fmt: skip


class OtherOrders:
    """Asked by whoever has a series."""

    def __init__(self, history: History, memory: Memory) -> None:
        self._history, self._memory = history, memory

    def judge(
        self, event: Backward, met: Met, culprit: Site, how: Disorder, steps: int
    ) -> Iterator[Misaligned]:
        seen = self._memory.at(culprit, met)
        seen.disordered += 1
        if how == "early" and self._memory.late:
            return
        if seen.disordered >= ENOUGH_UPDATES and not seen.right:
            where = WHERE.get(how, carried_on_at)(self._history, culprit)
            if how == "by the copies" and met.constant is not None:
                where = laid_out_at(self._history, met.constant)
            yield return_that(self._history, event, met, culprit, TEXTS[how].format(steps=steps), where)
