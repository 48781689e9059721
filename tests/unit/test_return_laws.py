"""Series of returns: which of them are judged at all."""

from __future__ import annotations

from math import inf, nan

import pytest

from gradsan.judge.returns.return_laws import FEWEST_PAIRS, ReturnRow, Series
from gradsan.record.events import Transition


def series(*broken: float) -> Series:
    numbers = [0.5 * step for step in range(FEWEST_PAIRS + 4)]
    numbers[3 : 3 + len(broken)] = broken
    return Series(
        [
            ReturnRow(Transition(stream=0, step=step, reward=1.0), number)
            for step, number in enumerate(numbers)
        ]
    )


def test_a_series_of_finite_numbers_is_judged() -> None:
    assert series().is_large_enough()


@pytest.mark.parametrize("broken", [(nan,), (inf,), (nan, inf, -inf)])
def test_a_series_that_has_overflowed_is_not_judged(broken: tuple[float, ...]) -> None:
    assert not series(*broken).is_large_enough()
