"""What the check tells the learner, and what it never lets through."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from learn_answers import solution

from gradsan.learn import probe
from gradsan.learn.attempt import Wrong
from gradsan.learn.catalogue import find
from gradsan.learn.judge import judge


def test_an_exercise_that_gradsan_could_not_watch_is_not_right(monkeypatch, write) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no tap today")

    monkeypatch.setattr("gradsan.observe.session.Session.__enter__", broken)
    verdict = judge(find("slope"), write("slope", solution(find("slope"))))
    assert "gradsan could not watch" in verdict.problems[0]
    assert "no tap today" in verdict.problems[0]


def test_a_rule_that_was_not_evaluated_is_not_taken_for_clean(monkeypatch, write) -> None:
    blind = [{"rule": "GS301", "reason": "a region was compiled"}]
    monkeypatch.setattr("gradsan.judge.engine.Engine._not_evaluated", lambda _: blind)
    told = judge(find("detached_target"), write("detached_target", solution(find("detached_target"))))
    assert "GS301 was not evaluated, because a region was compiled" in told.problems[0]
    assert judge(find("slope"), write("slope", solution(find("slope")))).right, "it is not about GS301"


def test_an_error_is_said_with_the_line_and_its_meaning(write) -> None:
    exercise = find("no_grad")
    (problem, *_) = judge(exercise, write("no_grad", exercise.source)).problems
    line = 1 + exercise.source.splitlines().index("    loss.backward()")
    assert problem.startswith(f"Line {line} (`loss.backward()`) raised RuntimeError")
    assert "nothing to follow" in problem


def test_a_long_error_is_cut_between_words(write) -> None:
    text = solution(find("slope")) + f"\nraise ValueError('{'word ' * 60}')\n"
    (problem, *_) = judge(find("slope"), write("slope", text)).problems
    assert problem.endswith("word word …")


def test_what_the_file_prints_is_kept(write) -> None:
    text = 'print("here I am")\n' + solution(find("slope"))
    verdict = judge(find("slope"), write("slope", text))
    assert verdict.right
    assert "here I am" in verdict.printed


def test_the_demo_of_a_file_is_not_run(write) -> None:
    assert judge(find("slope"), write("slope", solution(find("slope")))).printed == ""


def test_one_answer_does_not_disturb_the_next(write) -> None:
    text = (
        solution(find("slope")) + "\ntorch.set_grad_enabled(False)\ntorch.set_default_dtype(torch.float16)\n"
    )
    judge(find("slope"), write("slope", text))
    assert torch.is_grad_enabled()
    assert torch.get_default_dtype() is torch.float32
    assert judge(find("item"), write("item", solution(find("item")))).right


def test_a_missing_file_gets_a_sentence(tmp_path: Path) -> None:
    verdict = judge(find("slope"), tmp_path / "1_02_slope.py")
    assert "is not in" in verdict.problems[0]


def test_a_binary_file_gets_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "1_02_slope.py"
    path.write_bytes(b"\xff\xfe\x00")
    assert "cannot be read" in judge(find("slope"), path).problems[0]


def test_finite_differences_catch_a_wrong_trusted_gradient() -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    with pytest.raises(AssertionError):
        probe.gradients(lambda: (x * x.detach()).sum(), [x])


def test_shapes_are_part_of_the_answer() -> None:
    with pytest.raises(Wrong, match="shape"):
        probe.same(torch.ones(2, 1), torch.ones(2), "it")
