"""Returns that obey their law at other steps than those they stand at: mirrored in time, or one step off.

A row is asked for by its observation, its number by the law `G = r + γ·G'`. Where the numbers obey the law only after
they were put into another order, they were put together in the wrong one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from gradsan.judge.returns.least_squares import Column, solve
from gradsan.judge.returns.return_laws import FEWEST_PAIRS, ReturnRow, Series
from gradsan.record.events import Transition

Disorder = Literal[
    "",
    "reversed",
    "reversed sums of the past",
    "late",
    "early",
    "sums of the past",
    "by the copies",
    "rewards before",
    "rewards after",
]
SLACK = 0.01  # of a weight that must be one


def disorder_of(parts: Sequence[Series], begins: Callable[[Transition], bool]) -> Disorder:
    """Of returns that no network had a part in, which obey no law where they stand."""
    if not all(part.varied_rewards for part in parts if len(part.entries) > 2):
        return ""  # whatever their order is, equal rewards look alike
    for by_episode in (True, False):
        turned = Series.together([_mirrored(part, by_episode) for part in parts])
        if _is_return(turned):
            return "reversed"
        if turned.is_large_enough() and turned.looks_back(begins):
            return "reversed sums of the past"
    for how, change in MOVED.items():
        if _is_return(Series.together([change(part) for part in parts])):
            return how
    return ""


def _is_return(series: Series) -> bool:
    if not series.is_large_enough() or not series.varied_rewards:
        return False
    law = series.backward_law(with_predictions=False)
    return law.exact and 0.05 < law.next < 1.0 + 1e-4 and law.reward > 0.0 and series.adds_up(law)


def _mirrored(series: Series, by_episode: bool) -> Series:
    turned: list[ReturnRow] = []
    for run in _runs(series, by_episode):
        numbers = [entry.number for entry in reversed(run)]
        turned += [replace(e, number=n, prediction=None) for e, n in zip(run, numbers, strict=True)]
    return Series(turned)


def _a_step_later(series: Series) -> Series:
    """Each number at the step behind the one that it stands at, within one episode."""
    return Series([ReturnRow(later.transition, entry.number) for entry, later in series.pairs])


def _a_step_earlier(series: Series) -> Series:
    return Series([ReturnRow(entry.transition, later.number) for entry, later in series.pairs])


def _the_other_way(series: Series) -> Series:
    """Of several copies, step by step or copy by copy: the numbers as if they were in the other order."""
    rows = list(series.entries.values())
    copies = len({row.transition.stream for row in rows})
    steps, rest = divmod(len(rows), copies or 1)
    if copies < 2 or rest or steps < 2:
        return Series([])
    by_step = len({row.transition.stream for row in rows[:copies]}) == copies
    wide, long = (copies, steps) if by_step else (steps, copies)
    numbers = [row.number for row in rows]
    turned = [numbers[column * long + line] for line in range(long) for column in range(wide)]
    return Series([ReturnRow(row.transition, number) for row, number in zip(rows, turned, strict=True)])


MOVED: dict[Disorder, Callable[[Series], Series]] = {
    "late": _a_step_later, "early": _a_step_earlier, "by the copies": _the_other_way,
}  # fmt: skip


def _runs(series: Series, by_episode: bool) -> list[list[ReturnRow]]:
    runs: list[list[ReturnRow]] = []
    for (stream, step), entry in sorted(series.entries.items()):
        before = series.entries.get((stream, step - 1))
        if before is None or (by_episode and before.transition.end):
            runs.append([])
        runs[-1].append(entry)
    return runs


BESIDE: dict[int, Disorder] = {-1: "rewards before", 1: "rewards after"}


def _takes_rewards_beside(series: Series, by: int) -> bool:
    """Whether the law of a return holds with the rewards of the steps before, or after, and not with its own."""
    moved: list[ReturnRow] = []
    for (stream, step), entry in series.entries.items():
        other = series.entries.get((stream, step + by))
        border = other if by < 0 else entry
        if other is not None and border is not None and not border.transition.end:
            given = entry.transition._replace(reward=other.transition.reward)
            moved.append(replace(entry, transition=given))
    found = Series(moved)
    if not found.is_large_enough() or not found.varied_rewards:
        return False
    law = found.backward_law(with_predictions=True)
    is_return = (
        law.exact and 0.05 < law.next < 1.0 + 1e-4 and law.value > -1e-4 and abs(law.reward - 1.0) < SLACK
    )
    return is_return and not series.backward_law(with_predictions=True).exact


# -- `advantages + values`, both of them known ---------------------------------------------------------------


def disorder_of_advantages(series: Series) -> Disorder:
    """Of sums whose one part is a prediction: whether the other is carried on with time, or mirrored. In its right
    order `A = r + γ·V' - V + γλ·A'`."""
    own = {key: e.number - (e.prediction or 0.0) for key, e in series.entries.items()}
    if max(map(abs, own.values())) <= 1e-4 * series.range:
        return ""
    if _obeys(series, own, -1):
        return "sums of the past"
    for by, how in BESIDE.items():
        if _takes_rewards_beside(series, by):
            return how
    mirrored: dict[tuple[int, int], float] = {}
    for run in _runs(series, False):
        keys = [(e.transition.stream, e.transition.step) for e in run]
        mirrored |= {key: own[other] for key, other in zip(keys, reversed(keys), strict=True)}
    return "reversed" if _obeys(series, mirrored, 1) else ""


def _obeys(series: Series, own: dict[tuple[int, int], float], towards: int) -> bool:
    """Whether each advantage is its own error and a share of its neighbour's: the next one's, or the last one's."""
    rows: list[tuple[list[float], float]] = []
    for entry, later in series.pairs:
        at = (entry.transition.stream, entry.transition.step)
        neighbour = (at[0], at[1] + towards)
        other = series.entries.get((at[0], at[1] - 1))
        if neighbour not in own or (towards < 0 and (other is None or other.transition.end)):
            continue
        facts = [own[neighbour], later.prediction or 0.0, entry.prediction or 0.0, 1.0]
        rows.append((facts + ([entry.transition.reward] if series.varied_rewards else []), own[at]))
    if len(rows) < FEWEST_PAIRS:
        return False
    columns: list[Column] = [list(column) for column in zip(*(facts for facts, _ in rows), strict=True)]
    weights = solve(columns, [wanted for _, wanted in rows])
    near = all(
        abs(sum(w * x for w, x in zip(weights, facts, strict=True)) - wanted) <= series.tolerance
        for facts, wanted in rows
    )
    carried, following, value = weights[:3]
    return near and 0.05 < carried < 1.0 and carried < following + SLACK and abs(value + 1.0) < SLACK
