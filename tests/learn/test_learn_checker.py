"""The checking process may be killed, hang or exit; the course goes on."""

from __future__ import annotations

import subprocess

from learn_answers import solution

from gradsan.learn.catalogue import find
from gradsan.learn.checker import Checker

SLOPE = find("slope")


def test_a_dying_answer_is_wrong_and_the_next_check_works(write) -> None:
    with Checker() as checker:
        dying = checker.check(SLOPE, write("slope", "import torch\ntorch.os._exit(0)\n"))
        assert "Python ended (status 0) before the check was over" in dying.problems[0]
        right = checker.check(SLOPE, write("slope", solution(SLOPE)))
        assert right.right, right


def test_an_endless_loop_is_announced_then_stopped_and_the_next_check_works(write) -> None:
    said: list[str] = []
    with Checker(limit=0.5, patience=0.1, slow=said.append) as checker:
        hanging = checker.check(SLOPE, write("slope", "while True: pass"))
        assert "was stopped after 0.5 seconds" in hanging.problems[0]
        assert "loop that never ends" in hanging.problems[0]
        (sentence,) = said
        assert "still running after 0.1 seconds" in sentence
        assert "Ctrl-C" in sentence
        checker.limit = 60
        right = checker.check(SLOPE, write("slope", solution(SLOPE)))
        assert right.right, right


def test_a_killed_process_that_is_not_gone_yet_gets_no_other_check(write, monkeypatch) -> None:
    monkeypatch.setattr(
        subprocess.Popen, "poll", lambda self: self.returncode
    )  # only waiting tells that it ended
    with Checker(limit=0.5) as checker:
        assert "was stopped" in checker.check(SLOPE, write("slope", "while True: pass")).problems[0]
        checker.limit = 60
        right = checker.check(SLOPE, write("slope", solution(SLOPE)))
        assert right.right, right
