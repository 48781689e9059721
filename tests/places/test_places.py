"""Everywhere training code lives: correct code stays silent, a bug is found on its line, and not one bit
of the result differs from a run without gradsan."""

from __future__ import annotations

import pytest
from place import PLACES, Place, run

MODES = ("deep", "adaptive", "light")


def by_name(place: Place) -> str:
    return place.name


def summary(report):
    return [(f.rule, f.culprit and f.culprit.line, f.message) for f in report.findings]


@pytest.mark.parametrize("place", PLACES, ids=by_name)
def test_correct_code_is_silent_and_trains_bit_for_bit_the_same(place: Place) -> None:
    expected, _ = run(place.correct)
    for mode in MODES:
        found, report = run(place.correct, mode)
        assert not report.faults, report.faults[0]["traceback"]
        assert not report.findings, (mode, summary(report))
        assert report.iterations > 5, mode
        assert found == expected, mode


@pytest.mark.parametrize("mode", ["deep", "adaptive"])
@pytest.mark.parametrize("place", PLACES, ids=by_name)
def test_a_bug_is_found_on_its_line(place: Place, mode: str) -> None:
    expected, _ = run(place.buggy)
    found, report = run(place.buggy, mode)
    assert not report.faults, report.faults[0]["traceback"]
    blamed = {f.culprit.line for f in report.findings if f.rule in place.rules and f.culprit}
    assert blamed & place.blame, (place.blame, summary(report))
    assert blamed <= place.blame, (place.blame, summary(report))
    assert {f.rule for f in report.findings} <= place.rules, summary(report)
    assert found == expected
    reasons = " ".join(n["reason"] for n in report.not_evaluated)
    assert place.blind in reasons, report.not_evaluated
