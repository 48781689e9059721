"""Which law a series of weights or targets obeys: a return is computed from the return of the next step.

Everything here is arithmetic on numbers that were recorded: a law is found where it holds for every pair of steps to
the precision of the numbers, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

from gradsan.judge.returns.least_squares import Column, solve
from gradsan.record.events import Transition

FEWEST_PAIRS = 12
EXACT = 1e-4  # of the range of the values: single precision, after a normalisation or two
SLOWEST = 0.9999  # a discount above this may be none


@dataclass(slots=True)
class ReturnRow:
    """One row: the transition it is about, its number, and the prediction that the number is to be learned by."""

    transition: Transition
    number: float
    prediction: float | None = None


@dataclass(slots=True)
class Law:
    """`number = next * next number + value * next prediction + reward * reward + constant`."""

    next: float
    value: float
    reward: float
    constant: float
    exact: bool

    def at(self, entry: ReturnRow, following: ReturnRow) -> float:
        return (
            self.next * following.number
            + self.value * (following.prediction or 0.0)
            + self.reward * entry.transition.reward
            + self.constant
        )


class Series:
    """The rows of one line in one update, by stream and step."""

    def __init__(self, entries: Sequence[ReturnRow]) -> None:
        self.entries = {(e.transition.stream, e.transition.step): e for e in entries}
        self.pairs: list[tuple[ReturnRow, ReturnRow]] = []  # of one episode
        self.borders: list[
            tuple[ReturnRow, ReturnRow]
        ] = []  # the last of an episode and the first of the next
        self.resets: list[
            tuple[ReturnRow, ReturnRow]
        ] = []  # a step that only starts anew, and the one after it
        for (stream, step), entry in self.entries.items():
            following = self.entries.get((stream, step + 1))
            if following is None or entry.transition.end == "reset":
                self.resets += [] if following is None else [(entry, following)]
                continue
            (self.borders if entry.transition.end else self.pairs).append((entry, following))
        numbers = [e.number for e in self.entries.values()] or [0.0]
        self.range = max(numbers) - min(numbers)
        rewards = [e.transition.reward for e in self.entries.values()] or [0.0]
        self.varied_rewards = max(rewards) - min(rewards) > 1e-6 * max(1.0, max(map(abs, rewards)))

    @classmethod
    def together(cls, parts: Sequence[Series]) -> Series:
        """Of several updates: neighbours in time are compared within each, because every update ends in a value of its
        own."""
        found = cls([entry for part in parts for entry in part.entries.values()])
        found.pairs = [pair for part in parts for pair in part.pairs]
        found.borders = [pair for part in parts for pair in part.borders]
        found.resets = [pair for part in parts for pair in part.resets]
        return found

    @property
    def tolerance(self) -> float:
        return EXACT * self.range + 1e-7

    def is_large_enough(self) -> bool:
        numbers = [abs(e.number) for e in self.entries.values()]
        if not all(map(isfinite, numbers)):
            return False  # what has overflowed tells no order, and GS503 speaks of it
        return len(self.pairs) >= FEWEST_PAIRS and self.range > 1e-5 * max(numbers)

    def backward_law(self, with_predictions: bool) -> Law:
        """Each number from the one that follows it."""
        return self._law(self.pairs, with_predictions)

    def forward_law(self) -> Law:
        """Each number from the one before it."""
        pairs = [(later, earlier) for earlier, later in self.pairs]
        law = self._law(pairs, False)
        if law.exact:
            return law
        # A loop that was made to run backwards starts anew at the last step of an episode, before it adds that one.
        going_on = [pair for pair in pairs if not pair[0].transition.end]
        return self._law(going_on, False) if len(going_on) >= FEWEST_PAIRS else law

    def _law(self, pairs: list[tuple[ReturnRow, ReturnRow]], with_predictions: bool) -> Law:
        columns: list[Column] = [[other.number for _, other in pairs]]
        if with_predictions:
            columns.append([other.prediction or 0.0 for _, other in pairs])
        if self.varied_rewards:
            columns.append([entry.transition.reward for entry, _ in pairs])
        columns.append([1.0] * len(pairs))
        wanted = [entry.number for entry, _ in pairs]
        found = list(solve(columns, wanted))
        following = found.pop(0)
        value = found.pop(0) if with_predictions else 0.0
        reward = found.pop(0) if self.varied_rewards else 0.0
        law = Law(following, value, reward, found.pop(0), True)
        law.exact = all(abs(law.at(e, other) - e.number) <= self.tolerance for e, other in pairs)
        return law

    def adds_up(self, law: Law) -> bool:
        """Whether each step brings something of its own: the return of a whole episode is the same at every step."""
        gains = [abs(law.at(e, other) - law.next * other.number) for e, other in self.pairs]
        return max(gains) > 10 * self.tolerance and law.next > 0.05

    def is_differential(self, law: Law) -> bool:
        """Undiscounted, and every reward is compared with a constant: the average reward."""
        if law.next + law.value < SLOWEST:
            return False
        rewards = [e.transition.reward for e in self.entries.values()]
        constant = law.constant if self.varied_rewards else law.constant - rewards[0]
        return abs(constant) > self.tolerance

    def crossings(self, law: Law) -> tuple[int, int]:
        """At how many borders the law goes on into the next episode, and at how many it does not."""
        told = [self._crosses(law, entry, following) for entry, following in self.borders]
        return told.count(True), told.count(False)

    def _crosses(self, law: Law, entry: ReturnRow, following: ReturnRow) -> bool | None:
        """None where nothing tells."""
        whole = law.at(entry, following)
        # The bootstrapped value may be masked where the sum of what follows is not.
        own = whole - law.next * following.number - law.value * (following.prediction or 0.0)
        part = own + law.next * (following.number - (following.prediction or 0.0))
        candidates = [whole, part] if law.value else [whole]
        if min(abs(candidate - own) for candidate in candidates) <= 10 * self.tolerance:
            return None if abs(entry.number - own) <= 10 * self.tolerance else False
        return any(abs(candidate - entry.number) <= self.tolerance for candidate in candidates)

    def values_past_ends(self, law: Law, ends: Collection[str]) -> tuple[int, int]:
        """At how many borders of these kinds nothing is carried on but the value of what comes next is taken, the first
        state of another episode; and at how many it is not."""
        taken = left_out = 0
        for entry, following in self.borders:
            if entry.transition.end not in ends or following.prediction is None:
                continue
            whole = law.at(entry, following)
            own = whole - law.next * following.number - law.value * following.prediction
            valued = own + (law.next + law.value) * following.prediction
            if abs(valued - own) > 10 * self.tolerance:
                taken += abs(valued - entry.number) <= self.tolerance
                left_out += abs(valued - entry.number) > self.tolerance
        return taken, left_out

    def lasts_from_themselves(self, law: Law) -> tuple[int, int]:
        """At how many of the last steps, one of each copy, the value of the step's own state stands where that of the
        next belongs; and at how many it does not."""
        own = other = 0
        known = [(e.prediction, f.prediction) for e, f in self.pairs if e.prediction is not None]
        if not known or 2 * sum(before == after for before, after in known) > len(known):
            return 0, 0  # states that come again and again
        for (stream, step), entry in self.entries.items():
            whole = all((stream, step - back) in self.entries for back in range(FEWEST_PAIRS))
            if (stream, step + 1) in self.entries or not whole:
                continue  # a few rows, of which none need be the last of its rollout
            if entry.transition.end or entry.prediction is None:
                continue
            from_itself = law.at(entry, ReturnRow(entry.transition, entry.prediction, entry.prediction))
            moved = entry.prediction + self._usual_move(stream, step)
            from_another = law.at(entry, ReturnRow(entry.transition, moved, moved))
            if abs(from_another - from_itself) <= 10 * self.tolerance:
                continue  # the value of the next state is too near to be told from it
            is_own = abs(from_itself - entry.number) <= self.tolerance
            own, other = own + is_own, other + (not is_own)
        return own, other

    def _usual_move(self, stream: int, step: int) -> float:
        """By how much the prediction changes from one step to the next, shortly before this one."""
        before = (self.entries[stream, step - back].prediction or 0.0 for back in range(FEWEST_PAIRS))
        moves = sorted(abs(later - earlier) for later, earlier in pairwise(before))
        return moves[len(moves) // 2]

    # -- what is no return ---------------------------------------------------------------------------------

    def bootstraps_from_itself(self) -> bool:
        """Whether the value of the step's own state stands where that of the next belongs: `r + γ·V(s) - V(s)`. Then
        a return holds its own prediction, and the next one counts against it."""
        if any(e.prediction is None for e in self.entries.values()):
            return False
        columns: list[Column] = [
            [other.number for _, other in self.pairs],
            [other.prediction or 0.0 for _, other in self.pairs],
            [entry.prediction or 0.0 for entry, _ in self.pairs],
            [entry.transition.reward for entry, _ in self.pairs] if self.varied_rewards else [],
            [1.0] * len(self.pairs),
        ]
        columns = [column for column in columns if column]
        wanted = [entry.number for entry, _ in self.pairs]
        weights = solve(columns, wanted)
        computed = [
            sum(w * x for w, x in zip(weights, row, strict=True)) for row in zip(*columns, strict=True)
        ]
        exact = all(abs(c - n) <= self.tolerance for c, n in zip(computed, wanted, strict=True))
        following, value, own = weights[:3]
        return exact and 0.05 < following < 1.0 and abs(value + following) <= 0.01 and 0.3 < own < SLOWEST

    # -- ends at the wrong steps ---------------------------------------------------------------------------

    def cut_beside_the_ends(self, by: int, with_predictions: bool) -> int:
        """At how many ends the series goes on, and is cut `by` steps later (earlier, where negative) instead; 0 where
        it is not so at every end that tells."""
        ends = [key for key, e in self.entries.items() if e.transition.end not in ("", "reset")]
        cuts = {(stream, step + by) for stream, step in ends}
        consecutive = self.pairs + self.borders
        going_on = [pair for pair in consecutive if _key(pair[0]) not in cuts]
        # Copies that start anew by themselves do so in a step of its own, after the end.
        cut = [pair for pair in consecutive + self.resets if _key(pair[0]) in cuts]
        if len(going_on) < FEWEST_PAIRS or not cut:
            return 0
        law = self._law(going_on, with_predictions)
        if not law.exact or not self.adds_up(law) or not law.value > -1e-4:
            return 0
        return len(cut) if all(self._ends_with(law, *pair) for pair in cut) else 0

    def is_cut_at_resets(self) -> bool:
        """Whether an episode is over for it only at the step that starts the next one."""
        return bool(self.resets) and any(e.transition.end in ("terminated", "done") for e, _ in self.borders)

    def _ends_with(self, law: Law, entry: ReturnRow, following: ReturnRow) -> bool:
        """Whether a number is what its own step has brought, and that can be told from what would follow."""
        own = (
            law.at(entry, following) - law.next * following.number - law.value * (following.prediction or 0.0)
        )
        told_apart = abs(law.at(entry, following) - own) > 10 * self.tolerance
        return told_apart and abs(entry.number - own) <= self.tolerance

    def looks_back(self, begins: Callable[[Transition], bool]) -> bool:
        """Whether each number is the sum of what came before it."""
        law = self.forward_law()
        if not law.exact or not 0.05 < law.next < 1.0 + 1e-4:
            return False
        if not self.adds_up_to_reward(law):
            return self._piles_up(law)
        if self.varied_rewards:
            return not self.backward_law(False).exact
        firsts = [e for e in self.entries.values() if begins(e.transition)]
        own = [abs(e.number - e.transition.reward) <= self.tolerance for e in firsts]
        return law.next < SLOWEST and bool(own) and all(own)

    def _piles_up(self, law: Law) -> bool:
        """Of equal rewards, and normalised: what is still to come gets less with every step, what has been gets more.
        (A discount of the time that has passed gets less, too.)"""
        if self.varied_rewards or not law.next < SLOWEST:
            return False
        reward = next(iter(self.entries.values())).transition.reward
        more = [(later.number - entry.number) * reward for entry, later in self.pairs]
        return bool(more) and min(more) > 0.0

    def adds_up_to_reward(self, law: Law) -> bool:
        if self.varied_rewards:
            return law.reward > 0.0
        reward = next(iter(self.entries.values())).transition.reward
        return abs(law.constant - reward) <= self.tolerance

    def is_only_discounted(self, begins: Callable[[Transition], bool]) -> bool:
        """Whether each number is the reward of its own step times a power of the discount."""
        if any(abs(e.transition.reward) < 1e-6 for e in self.entries.values()):
            return False
        share = {key: e.number / e.transition.reward for key, e in self.entries.items()}
        firsts = [share[key] for key, e in self.entries.items() if begins(e.transition)]
        if not firsts or any(abs(first - 1.0) > EXACT for first in firsts) or not all(share.values()):
            return False
        ratios = [
            share[later.transition.stream, later.transition.step]
            / share[earlier.transition.stream, earlier.transition.step]
            for earlier, later in self.pairs
        ]
        return min(ratios) > 0.05 and max(ratios) < SLOWEST and max(ratios) - min(ratios) <= 10 * EXACT


def _key(entry: ReturnRow) -> tuple[int, int]:
    return entry.transition.stream, entry.transition.step
