"""Weights of log-probabilities and targets of values, step by step: which law they obey, or why they obey none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from gradsan.judge.history import History
from gradsan.judge.lines.helper_lines import helper_line
from gradsan.judge.lines.raised_discounts import raised_at
from gradsan.judge.lines.running_sums import carried_on_at, piled_up_at
from gradsan.judge.lines.shuffled_names import shuffled_at
from gradsan.judge.objective.weighed import Met, entries, is_score, met_in, not_normalised
from gradsan.judge.returns.across_ends import AcrossEnds, cut_at_resets, cut_beside, law_of
from gradsan.judge.returns.discounted_in_place import are_discounted_in_place
from gradsan.judge.returns.discounted_twice import discounted_twice
from gradsan.judge.returns.misaligned import ENOUGH_UPDATES, Memory, Misaligned, return_that, summed_at
from gradsan.judge.returns.numpy_targets import arrival
from gradsan.judge.returns.other_orders import OtherOrders
from gradsan.judge.returns.own_state_targets import OWN_STATE
from gradsan.judge.returns.permuted import are_permuted
from gradsan.judge.returns.reordered import Disorder, disorder_of, disorder_of_advantages
from gradsan.judge.returns.return_laws import FEWEST_PAIRS, ReturnRow, Series
from gradsan.judge.returns.shuffled_rollouts import ShuffledRollout
from gradsan.judge.returns.whole_rollouts import WholeRollouts
from gradsan.judge.returns.window_ends import WindowEnds
from gradsan.record.events import Backward, Site

MOST_TRIES = 3  # updates without any law in which their order is looked for
MOST_UPDATES = 8  # of a few steps each that are looked at together

TWICE = (
    "is, at each of {steps} steps, its reward discounted by {discount:.4g} to the power of its step, and the next \
return discounted by the same once more"
)
PERMUTED = (
    "holds the returns of these {steps} steps in another order: nearly each stands at a step of another"
)
ONE_ORDER = "draw one order, and take observations, actions and returns with it"


class SeriesOfReturns:
    def __init__(self, history: History, memory: Memory) -> None:
        self._history, self._memory = history, memory
        self._parts: dict[Site, ShuffledRollout] = defaultdict(ShuffledRollout)
        self._short: dict[tuple[Site, bool], list[Series]] = defaultdict(list)  # updates of a few steps
        self._ends, self._orders = AcrossEnds(history, memory), OtherOrders(history, memory)
        self._rollouts, self._windows = WholeRollouts(history, memory), WindowEnds(history, memory)

    def found_in(self, event: Backward) -> Iterator[Misaligned]:
        for met, rows in self._met_in(event):
            is_target = met.constant is not None and met.op.name != "mul"
            together = self._add_part(met, rows) if is_target else None
            yield from self._judge(event, met, Series(rows))
            if together is not None:
                yield from self._judge_law(event, met, summed_at(self._history, met), together)
            if met.constant is not None and is_target:
                yield from self._rollouts.judge(event, met, rows)
                yield from self._windows.judge(event, met, met.constant)

    def _met_in(self, event: Backward) -> list[tuple[Met, list[ReturnRow]]]:
        series: dict[tuple[Site, int], tuple[Met, list[ReturnRow]]] = {}
        for met in met_in(self._history, event):
            if met.op.name == "mul" and not is_score(self._history, met.live):
                continue
            # A loop over the steps is one series; batches are one each.
            key = (met.op.site, 0 if len(met.numbers) == 1 else met.op.nid)
            series.setdefault(key, (met, []))[1].extend(entries(self._history, met))
        return list(series.values())

    def _add_part(self, met: Met, rows: list[ReturnRow]) -> Series | None:
        """What was summed up outside of torch comes in shuffled parts: all that are of one rollout, together."""
        book, graph = self._history.experience, self._history.graph
        together = self._parts[met.op.site].add(
            rows, lambda: book.said_when_acting(graph.live_params([met.live.nid]))
        )
        return together if together is not None and together.is_large_enough() else None

    def _judge(self, event: Backward, met: Met, series: Series) -> Iterator[Misaligned]:
        culprit = summed_at(self._history, met)
        parts = self._together(culprit, met, series)
        series = Series.together(parts)
        if not series.is_large_enough():
            return
        seen, begins = self._memory.at(culprit, met), self._history.experience.begins
        if series.looks_back(begins):
            seen.looks_back += 1
            if seen.looks_back >= ENOUGH_UPDATES and not seen.right:
                yield self._sums_of_the_past(event, met, culprit, len(series.pairs))
        elif (made := self._discounted_at(met, culprit, series, parts)) is not None:
            seen.only_discounted += 1
            if seen.only_discounted >= ENOUGH_UPDATES and not seen.right:
                yield self._only_discounted(event, met, made, len(series.pairs))
        else:
            yield from self._judge_order(event, met, culprit, series, parts)

    def _discounted_at(self, met: Met, culprit: Site, series: Series, parts: list[Series]) -> Site | None:
        """Of equal rewards that were normalised, only what they were before can tell."""
        begins = self._history.experience.begins
        if series.is_only_discounted(begins) or are_discounted_in_place(series, begins):
            return culprit
        plain = not_normalised(self._history, met) if len(parts) == 1 else None
        if plain is None or not Series(entries(self._history, plain)).is_only_discounted(begins):
            return None
        made = plain.constant
        return made.site if made is not None and made.name in ("mul", "div") else culprit

    def _judge_order(
        self, event: Backward, met: Met, culprit: Site, series: Series, parts: list[Series]
    ) -> Iterator[Misaligned]:
        if (late := cut_at_resets(series)) is not None:
            yield from self._ends.beside(event, met, culprit, late)
        elif (law := law_of(series)) is not None:
            # Predictions of weights that have been stepped since are not those that the targets were made of.
            if met.op.name == "mul" or self._parts[met.op.site].begins:
                yield from self._ends.judge(event, met, culprit, series, law)
        elif (found := cut_beside(series)) is not None:
            yield from self._ends.beside(event, met, culprit, found)
        elif series.bootstraps_from_itself():
            seen = self._memory.at(culprit, met)
            seen.from_itself += 1
            if seen.from_itself >= ENOUGH_UPDATES and not seen.right:
                text = OWN_STATE.format(steps=len(series.pairs))
                yield return_that(self._history, event, met, culprit, text)
        elif how := disorder_of(parts, self._history.experience.begins) or _of_advantages(met, series):
            yield from self._orders.judge(event, met, culprit, how, len(series.pairs))
        else:
            yield from self._judge_numbers(event, met, culprit, series)

    def _judge_numbers(
        self, event: Backward, met: Met, culprit: Site, series: Series
    ) -> Iterator[Misaligned]:
        seen, history = self._memory.at(culprit, met), self._history
        if discount := discounted_twice(series):
            seen.twice += 1
            if seen.twice >= ENOUGH_UPDATES and not seen.right:
                text = TWICE.format(steps=len(series.pairs), discount=discount)
                yield return_that(history, event, met, culprit, text, carried_on_at(history, culprit))
        elif seen.in_some_order < MOST_TRIES and are_permuted(series):
            seen.permuted += 1
            arrived = arrival(history, met.constant) if met.constant is not None else None
            if seen.permuted >= ENOUGH_UPDATES and not seen.right:
                where = shuffled_at(history, arrived, culprit) if arrived is not None else culprit
                text = PERMUTED.format(steps=len(series.entries))
                yield return_that(history, event, met, culprit, text, where, fix=ONE_ORDER)
        else:
            seen.in_some_order += 1

    def _judge_law(self, event: Backward, met: Met, culprit: Site, series: Series) -> Iterator[Misaligned]:
        if (late := cut_at_resets(series)) is not None:
            yield from self._ends.beside(event, met, culprit, late)
        elif (law := law_of(series)) is not None:
            yield from self._ends.judge(event, met, culprit, series, law)
        elif (found := cut_beside(series)) is not None:
            yield from self._ends.beside(event, met, culprit, found)
        elif how := disorder_of_advantages(series):
            yield from self._orders.judge(event, met, culprit, how, len(series.pairs))

    def _together(self, culprit: Site, met: Met, series: Series) -> list[Series]:
        """An update of a few steps tells too little: several of them are looked at together."""
        if len(series.pairs) >= FEWEST_PAIRS:
            return [series]
        waiting = self._short[culprit, met.op.name == "mul"]
        if series.pairs:
            waiting.append(series)
        parts = waiting[-MOST_UPDATES:]
        if sum(len(part.pairs) for part in parts) >= FEWEST_PAIRS:
            waiting.clear()
        return parts

    def _sums_of_the_past(self, event: Backward, met: Met, culprit: Site, steps: int) -> Misaligned:
        text = f"is the sum of the rewards up to each of {steps} steps, not of those that follow it"
        return return_that(self._history, event, met, culprit, text, piled_up_at(self._history, culprit))

    def _only_discounted(self, event: Backward, met: Met, culprit: Site, steps: int) -> Misaligned:
        text = f"is, at each of {steps} steps, the discounted reward of that step alone: none that follow"
        arrived = arrival(self._history, met.constant) if met.constant is not None else None
        inside = helper_line(self._history, arrived, culprit) if arrived is not None else culprit
        inside = raised_at(self._history, culprit, inside)
        return return_that(self._history, event, met, culprit, text, inside)


def _of_advantages(met: Met, series: Series) -> Disorder:
    """Of targets that were summed up outside of torch, where the predictions are those they were made of."""
    predicted = all(later.prediction is not None for _, later in series.pairs)
    return disorder_of_advantages(series) if met.op.name != "mul" and predicted else ""
