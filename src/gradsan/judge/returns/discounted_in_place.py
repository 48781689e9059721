"""Rewards that were discounted where they stand, and normalised: `a·γ^i·r + b` at the i-th step of an episode.

Normalising hides the scale, and where all rewards are alike this is what `γ^i` times the return of the step is, too. So
a reward that differs has to tell: in a return every step before it feels it, here only its own does."""

from __future__ import annotations

from collections.abc import Callable

from gradsan.judge.returns.least_squares import Column, solve
from gradsan.judge.returns.return_laws import FEWEST_PAIRS, SLOWEST, ReturnRow, Series
from gradsan.record.events import Transition

Pair = tuple[ReturnRow, ReturnRow]
TOLD_APART = 100  # times the tolerance


def are_discounted_in_place(series: Series, begins: Callable[[Transition], bool]) -> bool:
    if any(abs(e.transition.reward) < 1e-6 for e in series.entries.values()):
        return False
    # What a script gives for the last step is often its own, -10 for a pole that fell: that step may be apart.
    last = [] if series.varied_rewards else [pair for pair in series.pairs if pair[1].transition.end]
    others = [pair for pair in series.pairs if pair not in last]
    if len(others) < FEWEST_PAIRS or not (last or series.varied_rewards):
        return False
    discount, shift = _fitted(others, series.varied_rewards)
    if not 0.05 < discount < SLOWEST:
        return False
    if any(_miss(pair, discount, shift) > series.tolerance for pair in others):
        return False
    if any(_miss(pair, discount, shift) < TOLD_APART * series.tolerance for pair in last):
        return False
    firsts = [e for e in series.entries.values() if begins(e.transition)]
    return bool(firsts) and all((e.number - shift) * e.transition.reward > 0 for e in firsts)


def _fitted(pairs: list[Pair], varied: bool) -> tuple[float, float]:
    """The discount and the shift that carry each number over to the next: `(n' - b)·r = γ·(n - b)·r'`."""
    columns: list[Column] = [[later.transition.reward * e.number for e, later in pairs]]
    columns.append([e.transition.reward for e, _ in pairs])
    if varied:
        columns.append([later.transition.reward for _, later in pairs])
    found = solve(columns, [e.transition.reward * later.number for e, later in pairs])
    discount = found[0]
    shift = found[1] if varied else found[1] / (1 - discount) if discount < SLOWEST else 0.0
    return discount, shift


def _miss(pair: Pair, discount: float, shift: float) -> float:
    """How far the later number is from what the law says, in its own scale."""
    entry, later = pair
    ratio = later.transition.reward / entry.transition.reward
    return abs(shift + discount * ratio * (entry.number - shift) - later.number) / max(1.0, abs(ratio))
