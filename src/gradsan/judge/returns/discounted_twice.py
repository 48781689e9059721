"""Rewards that are discounted by their step before they are summed up with a discount: `G = γ^t·r + γ·G'`.

`γ^t·r + G'` is the discounted objective itself, and `r + γ·G'` what is usually taken for it; both at once are
neither."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gradsan.judge.returns.return_laws import FEWEST_PAIRS, SLOWEST, ReturnRow, Series

LEAST = 1e-3  # of a reward that tells
SLACK = 1e-3  # of a reward, after two divisions
STEEPEST = 0.3
Three = tuple[ReturnRow, ReturnRow, ReturnRow]


def discounted_twice(series: Series) -> float:
    """The discount; 0 where it is another series."""
    threes = list(_threes(series))
    if len(threes) < FEWEST_PAIRS:
        return 0.0
    return next((d for d in _discounts(threes[0]) if all(_fits(d, *three) for three in threes)), 0.0)


def _threes(series: Series) -> Iterator[Three]:
    """Steps in a row of one episode, as far as their rewards tell anything."""
    following = {id(entry): later for entry, later in series.pairs}
    for first, second in series.pairs:
        third = following.get(id(second))
        rewards = first.transition.reward, second.transition.reward
        if third is not None and min(map(abs, rewards)) > LEAST:
            yield first, second, third


def _discounts(three: Three) -> Iterator[float]:
    """Those that make the share of the second reward the discounted one of the first."""
    first, second, third = (row.number for row in three)
    paid, later = three[0].transition.reward, three[1].transition.reward
    a, b, c = -second / paid, first / paid + third / later, -second / later
    root = b * b - 4 * a * c
    for sign in (1.0, -1.0) if root >= 0.0 and a else ():
        if STEEPEST < (discount := (-b + sign * math.sqrt(root)) / (2 * a)) < SLOWEST:
            yield discount


def _fits(discount: float, first: ReturnRow, second: ReturnRow, third: ReturnRow) -> bool:
    share = (first.number - discount * second.number) / first.transition.reward
    later = (second.number - discount * third.number) / second.transition.reward
    return 0.0 < share <= 1.0 + SLACK and abs(discount * share - later) <= SLACK * share
