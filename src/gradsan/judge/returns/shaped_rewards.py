"""Rewards that a script makes for itself: those of the environment clipped, or others where it gives the same at every
step.

They are told from those of another task (what a curiosity pays runs on over the ends of episodes): what is clipped
depends on the reward of the environment alone, and where that one says nothing, nothing else can be learned from."""

from __future__ import annotations

from itertools import pairwise

from gradsan.judge.history import History

FEWEST = 8  # rows
FEWEST_KINDS = 5  # of numbers that a script made: a goal that is reached or not pays only two
NEAR = 1e-5


def are_shaped(history: History, pairs: list[tuple[float, float]]) -> bool:
    """`pairs`: what was given, and what is used, at rows that go on."""
    if len(pairs) < FEWEST:
        return False
    if len({given for given, _ in pairs}) > 1:
        return _are_clipped(pairs)
    transitions = history.experience.transitions.values()
    always = len({row.reward for row in transitions if row.end != "reset"}) == 1
    return always and len({used for _, used in pairs}) >= FEWEST_KINDS


def _are_clipped(pairs: list[tuple[float, float]]) -> bool:
    """Whether the larger is never paid less, the same always the same, and different ones the same; none changes its
    sign, as where the average reward is taken off."""
    if any(given * used < 0.0 for given, used in pairs):
        return False
    ordered = sorted(pairs)
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(ordered)]
    follows = all(abs(used) <= NEAR if given <= NEAR else used > -NEAR for given, used in steps)
    cut = sum(given > NEAR >= used for given, used in steps)
    return follows and cut > 0 and any(used > NEAR for _, used in steps)
