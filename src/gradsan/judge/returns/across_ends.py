"""Returns that are summed up by their law, and what they do where the environment said that an episode was over."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.history import History
from gradsan.judge.lines.callers import used_in
from gradsan.judge.lines.running_sums import added_at, carried_on_at, cut_at
from gradsan.judge.objective.scores import newest_use
from gradsan.judge.objective.weighed import Met
from gradsan.judge.returns.misaligned import ENOUGH_BORDERS, Memory, Misaligned, return_that
from gradsan.judge.returns.return_laws import SLOWEST, Law, Series
from gradsan.judge.returns.terminal_values import are_values, rests_at_ends
from gradsan.record.events import NOWHERE, Backward, Site


class AcrossEnds:
    """Asked by whoever has a series."""

    def __init__(self, history: History, memory: Memory) -> None:
        self._history, self._memory = history, memory

    def judge(
        self, event: Backward, met: Met, culprit: Site, series: Series, law: Law
    ) -> Iterator[Misaligned]:
        seen = self._memory.at(culprit, met)
        seen.right += 1
        yield from self._values_past_ends(event, met, culprit, series, law)
        yield from self._last_values(event, met, culprit, series, law)
        yield from self._terminal_values(event, met, culprit, series, law)
        crossed, stopped = series.crossings(law)
        seen.crossed += crossed
        seen.stopped += stopped
        if crossed and seen.crossed >= ENOUGH_BORDERS and not seen.stopped:
            where = carried_on_at(self._history, culprit)
            yield return_that(self._history, event, met, culprit, _across(law, seen.crossed), where)

    def beside(
        self, event: Backward, met: Met, culprit: Site, found: tuple[int, int]
    ) -> Iterator[Misaligned]:
        """`found`: as `cut_beside` has it."""
        seen, (by, ends) = self._memory.at(culprit, met), found
        seen.beside += ends
        if seen.beside >= ENOUGH_BORDERS and not seen.stopped:
            word = "before" if by < 0 else "after"
            yield return_that(
                self._history, event, met, culprit,
                f"starts anew one step {word} the end of each of {seen.beside} episodes, and runs on across the end "
                f"itself: the flags of the ends are one step off",
                cut_at(self._history, culprit),
            )  # fmt: skip

    def _values_past_ends(
        self, event: Backward, met: Met, culprit: Site, series: Series, law: Law
    ) -> Iterator[Misaligned]:
        seen = self._memory.at(culprit, met)
        valued, not_valued = series.values_past_ends(law, self._ends_that_cut())
        seen.valued += valued
        seen.not_valued += not_valued
        if valued and seen.valued >= ENOUGH_BORDERS and not seen.not_valued:
            yield return_that(
                self._history, event, met, culprit,
                f"takes the value of the state that the next episode begins with, at all {seen.valued} steps where the"
                f" environment said that one was over",
                added_at(self._history, culprit),
            )  # fmt: skip

    def _terminal_values(
        self, event: Backward, met: Met, culprit: Site, series: Series, law: Law
    ) -> Iterator[Misaligned]:
        seen = self._memory.at(culprit, met)
        rests, others = rests_at_ends(series, law)
        seen.terminal += len(rests)
        seen.not_terminal += others
        enough = seen.terminal >= ENOUGH_BORDERS and not seen.not_terminal
        if rests and enough and are_values(rests, series.tolerance):  # each update has a scale of its own
            yield return_that(
                self._history, event, met, culprit,
                f"holds more than the reward at all {seen.terminal} steps where the environment said "
                "`terminated`: it takes the value of a state after which nothing follows",
                added_at(self._history, culprit),
                fix="mask the next value by `terminated`: `reward + gamma * (1 - terminated) * next_value - value`",
            )  # fmt: skip

    def _last_values(
        self, event: Backward, met: Met, culprit: Site, series: Series, law: Law
    ) -> Iterator[Misaligned]:
        seen = self._memory.at(culprit, met)
        own, following = series.lasts_from_themselves(law)
        seen.last_from_itself += own
        seen.last_from_next += following
        if own and seen.last_from_itself >= ENOUGH_BORDERS and not seen.last_from_next:
            where = asked_last(self._history, met)
            yield return_that(
                self._history, event, met, culprit,
                f"goes on, at the end of each of {seen.last_from_itself} rollouts, from the value of its last state, "
                "not from that of the state that the last step has led to",
                where,
                fix="ask the critic about the observation after the last step: what `step` gave back last",
            )  # fmt: skip

    def _ends_that_cut(self) -> tuple[str, ...]:
        """The ends at which the next start is no state that follows. Copies that start anew by themselves say only
        that they have: where the sum is cut there, the value has to be."""
        environments = self._history.experience.environments
        by_themselves = all(e.copies > 1 or e.together for e in environments)
        return ("terminated", "done", "ended") if by_themselves else ("terminated", "done")


def asked_last(history: History, met: Met) -> Site:
    """Where the newest value that a return was made of was asked for; nowhere, where the graph does not tell."""
    graph, made = history.graph, met.constant
    behind = graph.ancestors([made.nid]) if made is not None else {}
    asked = graph.get(newest_use(graph, behind))
    return used_in(history, asked, made) if asked is not None and made is not None else NOWHERE


def law_of(series: Series) -> Law | None:
    """How each number is computed from the next one, if it is a return at all."""
    law = series.backward_law(with_predictions=False)
    if not law.exact and all(following.prediction is not None for _, following in series.pairs):
        law = series.backward_law(with_predictions=True)
    # A share of the next prediction that is negative: these are no predictions but the other summand.
    is_return = law.exact and series.adds_up(law) and law.next < 1.0 + 1e-4 and law.value > -1e-4
    return law if is_return and not series.is_differential(law) else None


def cut_beside(series: Series) -> tuple[int, int] | None:
    """By how many steps the ends are missed, and how often."""
    predicted = all(later.prediction is not None for _, later in (*series.pairs, *series.borders))
    ways = [False, True] if predicted else [False]
    for by in (-1, 1):
        for with_predictions in ways:
            if ends := series.cut_beside_the_ends(by, with_predictions):
                return by, ends
    return None


def cut_at_resets(series: Series) -> tuple[int, int] | None:
    """As `cut_beside`, of copies that start anew in a step of its own: the law may hold at all other steps."""
    return (
        found
        if series.is_cut_at_resets() and (found := cut_beside(series)) is not None and found[0] > 0
        else None
    )


def _across(law: Law, ends: int) -> str:
    discount = law.next + law.value
    factor = f" discounted by {discount:.4g}" if discount < SLOWEST else ""
    return (
        f"goes on across the ends of episodes: the environment said at {ends} steps that one was over, and each holds"
        f" what the next episode brought,{factor} as if there were none"
    )
