"""Selecting rules is a filter: `--select X` reports exactly the X of a full run, whatever the order of the rules."""

from __future__ import annotations

import os
import random
import warnings
from pathlib import Path

import pytest
import torch

from gradsan.judge.engine import Engine
from gradsan.record.events import Event
from gradsan.rules import catalogue
from harness import record_code
from rule_examples import bad, good

FOLDER = Path(__file__).parents[1] / "programs"
PROGRAMS = sorted([*FOLDER.glob("bugs/*.py"), *FOLDER.glob("clean/*.py")])
if not os.environ.get("GRADSAN_ALL_MODES"):  # `make programs` takes all of them
    PROGRAMS = PROGRAMS[::3]


class Same:
    """What two judgements of one run must have in common."""

    def __init__(self, engine: Engine) -> None:
        self.findings = [f.as_dict() for f in engine.report().findings]

    def of(self, code: str) -> list[object]:
        return [finding for finding in self.findings if finding["rule"] == code]


def judged(events: list[Event], **how: object) -> Same:
    engine = Engine(**how)  # type: ignore[arg-type]
    for event in events:
        engine.feed(event)
    engine.finish()
    assert not engine.report().faults
    return Same(engine)


def check(events: list[Event], seed: int) -> None:
    rules = list(catalogue().values())
    dice = random.Random(seed)
    full, backwards = judged(events), judged(events, rules=rules[::-1])
    assert {str(f) for f in backwards.findings} == {str(f) for f in full.findings}
    found = {finding["rule"] for finding in full.findings}
    for code in sorted(found | {dice.choice(sorted(catalogue()))}):
        alone = judged(events, selected=[catalogue()[code]], rules=dice.sample(rules, len(rules)))
        assert alone.findings == full.of(code)


@pytest.fixture(autouse=True)
def as_a_fresh_process():
    with warnings.catch_warnings(), torch.random.fork_rng():
        warnings.simplefilter("ignore")
        yield
    torch.set_grad_enabled(True)


@pytest.mark.parametrize("code", sorted(catalogue()))
def test_every_example_of_a_rule(code: str) -> None:
    rule = catalogue()[code]
    for number, example in enumerate((*bad(rule), *good(rule))):
        check(record_code(example), number)


@pytest.mark.parametrize("part", range(8))
def test_every_program(part: int) -> None:
    for path in PROGRAMS[part::8]:
        check(record_code(path.read_text(encoding="utf-8"), "adaptive"), part)
        torch.set_grad_enabled(True)


def test_a_rule_that_is_silenced_by_another_stays_silent_when_it_is_selected_alone() -> None:
    """A step before backward also finds its gradient wiped: the first is the reason."""
    events = record_code(catalogue()["GS404"].bad[0])
    assert judged(events, selected=[catalogue()["GS405"]]).findings == []
