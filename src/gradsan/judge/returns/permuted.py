"""Returns of the very steps that a batch is about, in an order of their own: they were shuffled apart.

Which discount they were summed up with is not known; where one makes the same numbers of the rewards, whatever their
order, and hardly any of them stands where it belongs, they stand at other steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean, pstdev

from gradsan.judge.returns.return_laws import FEWEST_PAIRS, Series

EXACT = 1e-4  # of the spread of the numbers
USUAL = (0.99, 0.95, 0.9, 0.97, 0.98, 0.995, 0.999, 1.0)
MOST = 2_048
STEPS = 71  # between 0.3 and 1, where the right discount is looked for
APART = 0.9


def are_permuted(series: Series) -> bool:
    rows = list(series.entries.values())
    numbers = [row.number for row in rows]
    if not FEWEST_PAIRS <= len(set(numbers)) <= len(numbers) <= MOST or not series.varied_rewards:
        return False
    wanted = _standardised(numbers)
    if len({round(number / EXACT) for number in wanted}) < APART * len(wanted):
        return False  # many are alike
    for discount in (*USUAL, *_fitting(series, sum(numbers))):
        own = _standardised(_returns(series, discount))
        both = zip(sorted(own), sorted(wanted), strict=True)
        if own and all(abs(a - b) <= EXACT for a, b in both):
            apart = sum(abs(a - b) > EXACT for a, b in zip(own, wanted, strict=True))
            return apart >= APART * len(own)
    return False


def _returns(series: Series, discount: float) -> list[float]:
    """Of each row, with what follows it in its episode, as far as it is in the batch."""
    found: dict[tuple[int, int], float] = {}
    for stream, step in sorted(series.entries, reverse=True):
        transition = series.entries[stream, step].transition
        behind = 0.0 if transition.end else found.get((stream, step + 1), 0.0)
        found[stream, step] = transition.reward + discount * behind
    return [found[key] for key in series.entries]


def _fitting(series: Series, total: float) -> Iterator[float]:
    """Discounts that make returns of the same sum."""
    grid = [0.3 + 0.7 * k / (STEPS - 1) for k in range(STEPS)]
    misses = [sum(_returns(series, discount)) - total for discount in grid]
    for low, high, at, after in zip(grid, grid[1:], misses, misses[1:], strict=False):
        if at * after < 0.0:
            yield _between(series, total, low, high, at < 0.0)


def _between(series: Series, total: float, low: float, high: float, rises: bool) -> float:
    for _ in range(40):
        middle = (low + high) / 2
        if (sum(_returns(series, middle)) < total) == rises:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _standardised(numbers: Sequence[float]) -> list[float]:
    mean, spread = fmean(numbers), pstdev(numbers)
    return [(number - mean) / spread for number in numbers] if spread else []
