"""When a repair counts as verified: judged by two runs, without any torch."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gradsan.fix.gradients import compare
from gradsan.fix.lines import LineMap, Moved
from gradsan.fix.trial import ConsumedStep, TrialRun
from gradsan.fix.verdict import TrialVerdict, judge
from gradsan.judge.report.findings import Finding, Location, RoleSite

BEFORE = b"a = 1\ntarget = q\nloss.backward()\n"
AFTER = b"a = 1\ntarget = q.detach()\nloss.backward()\n"


def found(rule: str = "GS301", line: int = 2, subjects: tuple[str, ...] = ("q.weight",)) -> Finding:
    where = Location("train.py", line, "<module>", "")
    return Finding(
        rule, "name", "error", "m", "f", where, (RoleSite("backward", replace(where, line=3)),), subjects
    )


def step(optimizer: int = 1, waiting: dict[str, str] | None = None, **taken: str) -> ConsumedStep:
    return ConsumedStep(
        optimizer, "train.py:4", {n.replace("_", "."): d for n, d in taken.items()}, waiting or {}
    )


def run(*steps: ConsumedStep, findings: tuple[Finding, ...] = (), **how: object) -> TrialRun:
    made = TrialRun(ending="ended", updates=10, findings=findings, steps=steps)
    return replace(made, **how)  # type: ignore[arg-type]


class Control:
    """What further runs without the repair would show."""

    def __init__(self, findings: tuple[Finding, ...] = (), reproducible: bool = True) -> None:
        self._findings, self._reproducible = findings, reproducible

    def findings(self) -> tuple[Finding, ...]:
        return self._findings

    def is_reproducible(self) -> bool:
        return self._reproducible


def verdict(before: TrialRun, after: TrialRun, **control: object) -> TrialVerdict:
    moved = Moved({"train.py": LineMap(BEFORE, AFTER)})
    return judge(before.findings[0], before, after, moved, Control(**control))  # type: ignore[arg-type]


WRONG = run(step(q_weight="1", v_weight="1"), findings=(found(),))
RIGHT = run(step(q_weight="2", v_weight="1"))


def test_it_is_verified_where_the_finding_is_gone_and_only_its_gradients_differ() -> None:
    assert verdict(WRONG, RIGHT).verified


def test_a_repair_of_a_leak_that_changes_no_gradient_has_repaired_nothing() -> None:
    same = replace(WRONG, findings=())
    assert verdict(WRONG, same).because == "with it, the gradients of 1 step are what they were, bit for bit"
    retained = replace(WRONG, findings=(found("GS406"),))
    assert verdict(retained, same).verified


def test_the_same_finding_on_the_moved_line_is_still_there() -> None:
    assert not verdict(WRONG, replace(RIGHT, findings=(found(),))).verified


def test_another_finding_is_no_repair_unless_it_is_there_anyway() -> None:
    other = replace(RIGHT, findings=(found("GS202", 3),))
    assert not verdict(WRONG, other).verified
    anyway = replace(WRONG, findings=(found(), found("GS202", 3)))
    assert verdict(WRONG, other, findings=anyway.findings).verified
    assert verdict(anyway, other).verified


def test_a_gradient_that_the_rule_does_not_speak_of_must_stay() -> None:
    wider = run(step(q_weight="2", v_weight="2"))
    refused = verdict(WRONG, wider)
    assert not refused.verified
    assert "v.weight" in refused.because


def test_a_program_that_differs_from_run_to_run_cannot_be_compared() -> None:
    refused = verdict(WRONG, RIGHT, reproducible=False)
    assert not refused.verified
    assert "two runs" in refused.because
    retained = replace(WRONG, findings=(found("GS406"),))
    assert verdict(retained, replace(RIGHT, steps=WRONG.steps), reproducible=False).verified, (
        "nothing differs"
    )


def test_a_rule_that_could_not_look_has_not_become_silent() -> None:
    assert not verdict(WRONG, replace(RIGHT, not_evaluated=frozenset({"GS301"}))).verified


def test_the_forward_pass_of_a_leak_stays_what_it_was() -> None:
    assert verdict(replace(WRONG, loss=2.0), replace(RIGHT, loss=2.00001)).verified
    assert not verdict(replace(WRONG, loss=2.0), replace(RIGHT, loss=3.0)).verified


def test_what_is_carried_over_changes_nothing_before_there_is_anything_to_carry() -> None:
    carried = replace(WRONG, findings=(found("GS305", subjects=()),))
    assert not verdict(carried, RIGHT).verified
    later = run(step(q_weight="1", v_weight="1"), step(q_weight="3"))
    assert verdict(replace(carried, steps=(*WRONG.steps, step(q_weight="2"))), later).verified


@pytest.mark.parametrize(
    ("before", "after", "fine"),
    [
        ({}, {"status": 1, "error": "ValueError: x"}, False),
        ({}, {"ending": "bounded", "updates": 3}, True),
        ({}, {"failure": "it was still running after 60 seconds"}, False),
        ({}, {"updates": 0}, False),
        ({"status": 1, "error": "RuntimeError: x", "updates": 1}, {}, True),
        (
            {"status": 1, "error": "RuntimeError: x", "updates": 1},
            {"status": 1, "error": "KeyError: y"},
            True,
        ),
        (
            {"status": 1, "error": "RuntimeError: x", "updates": 5},
            {"status": 1, "error": "KeyError: y", "updates": 2},
            False,
        ),
        ({"status": 3}, {"status": 3}, True),
    ],
)
def test_the_program_goes_as_far_as_before(
    before: dict[str, object], after: dict[str, object], fine: bool
) -> None:
    assert verdict(replace(WRONG, **before), replace(RIGHT, **after)).verified is fine  # type: ignore[arg-type]


def test_the_first_step_that_differs_decides() -> None:
    """What comes after it is computed with other weights."""
    before = [step(1, a="1"), step(2, b="1"), step(1, a="2")]
    after = [step(1, a="1"), step(2, b="9"), step(1, a="9")]
    assert compare(before, after).changed == ("b",)
    assert compare(before, after).update == 2
    assert compare(before, before).changed == ()


def test_what_was_computed_before_the_first_difference_is_compared_too() -> None:
    before = [step(1, {"b": "1"}, a="1"), step(2, b="1")]
    after = [step(1, {"b": "2"}, a="2"), step(2, b="2")]
    assert compare(before, after).changed == ("a", "b")
    recomputed = [step(1, {"b": "0"}, a="2"), step(2, b="2")]
    assert compare([step(1, {"b": "0"}, a="1"), step(2, b="1")], recomputed).changed == ("a",)


def test_steps_beyond_where_the_program_had_crashed_have_nothing_to_be_compared_with() -> None:
    assert compare([step(1, a="1")], [step(1, a="1"), step(1, a="2")]).changed == ()
