"""What is judged beside iterations that were only counted."""

from __future__ import annotations

from pathlib import Path

from harness import run_code

PROGRAMS = Path(__file__).parent.parent / "programs"


def test_log_probs_from_before_a_counted_step_are_not_taken_for_those_of_the_same_weights() -> None:
    """The steps in between were counted, and not seen: a ratio of 0.7 is no surprise after them."""
    program = PROGRAMS / "unseen" / "early_stop_leaves_a_gradient_fixed.py"
    report = run_code(program.read_text(encoding="utf-8"), mode="deep")
    assert not report.findings


def test_what_a_counted_step_may_have_taken_is_not_told_as_wiped() -> None:
    """The delayed policy is stepped after the critics, whose first step ends an iteration: so its backward is in one,
    and its step in the next, which may be only counted."""
    program = PROGRAMS / "unseen" / "policys_slope_left_in_the_critics_of_the_ensemble_fixed.py"
    report = run_code(program.read_text(encoding="utf-8"), mode="adaptive")
    assert not report.findings
