"""`r + γ·mask·(V' - V)`, where the mask is for the next value only: a share `1 - γ` of the present value is left in
`advantages + values`, and no other return has that."""

from __future__ import annotations

from gradsan.judge.returns.least_squares import Column, solve
from gradsan.judge.returns.return_laws import SLOWEST, Series

LEAST = 0.3  # a discount
NEAR = 0.1  # of the share
PLAIN = 100  # times worse
MASKED_BASELINE = (
    "holds, at each of {steps} steps, {share:.3g} of the value of its own state: the present value was discounted and "
    "masked together with the next one"
)
FIX = "mask only what comes next: `reward + gamma * (1 - done) * next_value - value`"


def share_of_own_value(series: Series) -> float:
    """What is left of the present value in every return; 0 where they obey another law, or none. That they would do
    without it must be plain: from step to step, values may hardly change."""
    if not series.pairs or any(e.prediction is None for e in series.entries.values()):
        return 0.0
    wanted = [entry.number for entry, _ in series.pairs]
    columns: list[Column] = [
        [entry.transition.reward if series.varied_rewards else 1.0 for entry, _ in series.pairs],
        [other.number for _, other in series.pairs],
        [other.prediction or 0.0 for _, other in series.pairs],
        [entry.prediction or 0.0 for entry, _ in series.pairs],
    ]
    (reward, following, value, own), miss = _fitted(columns, wanted)
    if miss > series.tolerance or _fitted(columns[:3], wanted)[1] < PLAIN * miss:
        return 0.0
    given = 1.0 if series.varied_rewards else series.pairs[0][0].transition.reward
    left, known = 1.0 - following - value, min(following, value) > -1e-4 and abs(reward - given) < 1e-2
    fits = 1.0 - SLOWEST < left < 1.0 - LEAST and abs(own - left) < NEAR * left
    return own if known and fits else 0.0


def _fitted(columns: list[Column], wanted: Column) -> tuple[list[float], float]:
    """The share of each column, and the largest miss."""
    weights = solve(columns, wanted)
    computed = (sum(w * x for w, x in zip(weights, row, strict=True)) for row in zip(*columns, strict=True))
    return weights, max(abs(c - n) for c, n in zip(computed, wanted, strict=True))
