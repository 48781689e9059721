"""Rewards that were discounted where they stand, and normalised: `a·γ^i·r + b` at the i-th step of an episode.

Normalising hides the scale, and where all rewards are alike this is what `γ^i` times the return of the step is, too. So
a reward that differs has to tell: in a return every step before it feels it, here only its own does. Where most steps
bring nothing, all of these have one and the same number; where all rewards are alike, episodes of different lengths
begin with the same number."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from gradsan.judge.returns.least_squares import Column, solve
from gradsan.judge.returns.return_laws import FEWEST_PAIRS, SLOWEST, ReturnRow, Series
from gradsan.record.events import Transition

Pair = tuple[ReturnRow, ReturnRow]
TOLD_APART = 100  # times the tolerance
NOTHING = 1e-6  # a reward
FEWEST_PAID = 3  # steps that brought something, where most bring nothing
Episode = list[ReturnRow]


def are_discounted_in_place(series: Series, begins: Callable[[Transition], bool]) -> bool:
    if any(abs(e.transition.reward) < NOTHING for e in series.entries.values()):
        return _among_zeros(series, _episodes(series, begins))
    if not series.varied_rewards and _begin_alike(series, _episodes(series, begins)):
        return True
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


def _episodes(series: Series, begins: Callable[[Transition], bool]) -> list[Episode]:
    """From their first steps, as far as they are there without a gap."""
    following = {id(entry): later for entry, later in series.pairs}
    found: list[Episode] = []
    for first in series.entries.values():
        if begins(first.transition):
            found.append(own := [first])
            while (later := following.get(id(own[-1]))) is not None:
                own.append(later)
    return found


def _among_zeros(series: Series, episodes: list[Episode]) -> bool:
    """Whether what was paid counts where it was paid, discounted by its step, and nowhere else."""
    rows = [(step, row) for own in episodes for step, row in enumerate(own)]
    paid = [(step, row) for step, row in rows if abs(row.transition.reward) >= NOTHING]
    unpaid = [row.number for _, row in rows if abs(row.transition.reward) < NOTHING]
    shift = sorted(unpaid)[len(unpaid) // 2] if unpaid else 0.0
    if len(paid) < FEWEST_PAID or sum(map(_unpaid_before, episodes)) < FEWEST_PAIRS:
        return False
    if any(abs(number - shift) > series.tolerance for number in unpaid):
        return False
    shares = {step: (row.number - shift) / row.transition.reward for step, row in paid}
    first, last = min(shares), max(shares)
    if first == last or min(shares.values()) <= 0.0:
        return False
    discount = float((shares[last] / shares[first]) ** (1 / (last - first)))
    if not 0.05 < discount < SLOWEST:
        return False
    scale = shares[first] / discount**first
    misses = [shift + scale * discount**step * row.transition.reward - row.number for step, row in paid]
    return all(abs(miss) <= series.tolerance for miss in misses)


def _unpaid_before(episode: Episode) -> int:
    """Steps that brought nothing, and after which something came."""
    paid = [step for step, row in enumerate(episode) if abs(row.transition.reward) >= NOTHING]
    return paid[-1] + 1 - len(paid) if paid else 0


def _begin_alike(series: Series, episodes: list[Episode]) -> bool:
    """Whether every episode runs through the same numbers, though more is to come in a long one than in a short one."""
    over = [own for own in episodes if own[-1].transition.end]
    pairs = [pair for own in over for pair in pairwise(own)]
    if len(over) < 2 or len(pairs) < FEWEST_PAIRS:
        return False
    discount, shift = _fitted(pairs, varied=False)
    if not 0.05 < discount < SLOWEST or any(
        _miss(pair, discount, shift) > series.tolerance for pair in pairs
    ):
        return False
    scale = over[0][0].number - shift
    if scale * over[0][0].transition.reward <= 0.0:
        return False
    if any(abs(own[0].number - shift - scale) > series.tolerance for own in over):
        return False
    left = [discount ** len(own) for own in over]
    return (max(left) - min(left)) * abs(scale) >= TOLD_APART * series.tolerance
