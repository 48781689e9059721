"""Everywhere training code lives: correct code stays silent, a bug is found on its line, and not one bit
of the result differs from a run without gradsan."""

from __future__ import annotations

import pytest
from feature import FEATURES, Feature, check_bug, check_correct

ORDINARY = [place for place in FEATURES if place.name != "compiled"]  # that one has a file of its own


def by_name(place: Feature) -> str:
    return place.name


@pytest.mark.parametrize("place", ORDINARY, ids=by_name)
def test_correct_code_is_silent_and_trains_bit_for_bit_the_same(place: Feature) -> None:
    check_correct(place)


@pytest.mark.parametrize("mode", ["deep", "adaptive"])
@pytest.mark.parametrize("place", ORDINARY, ids=by_name)
def test_a_bug_is_found_on_its_line(place: Feature, mode: str) -> None:
    check_bug(place, mode)
