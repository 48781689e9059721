"""What could not be looked at, and the rules that were not evaluated for it."""

from __future__ import annotations

import pytest

from gradsan.judge.engine import Engine
from gradsan.record.events import NOWHERE, Blind
from gradsan.rules import catalogue

DEEP = {code for code, rule in catalogue().items() if rule.needs_deep}


@pytest.mark.parametrize(
    ("blind", "concerned"),
    [
        (Blind("packed", NOWHERE), {"GS101", "GS104"} & DEEP),
        (Blind("compiled", NOWHERE), DEEP),
    ],
)
def test_the_rules_that_a_blind_spot_concerns(blind: Blind, concerned: set[str]) -> None:
    engine = Engine()
    engine.feed(blind)
    assert concerned
    assert {note["rule"] for note in engine.report().not_evaluated} == concerned
