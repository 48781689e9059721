"""The checking process may be killed, hang or exit; the course goes on."""

from __future__ import annotations

from learn_answers import solution

from gradsan.learn.catalogue import find
from gradsan.learn.checker import Checker

SLOPE = find("slope")


def test_a_hanging_or_dying_answer_is_wrong_and_the_next_check_works(write) -> None:
    with Checker(limit=30) as checker:
        dying = checker.check(SLOPE, write("slope", "import torch\ntorch.os._exit(0)\n"))
        assert "Python ended (status 0) before the check was over" in dying.problems[0]
        right = checker.check(SLOPE, write("slope", solution(SLOPE)))
        assert right.right, right
        checker._limit = 0.5  # warm by now: half a second is long for a check
        hanging = checker.check(SLOPE, write("slope", "while True: pass"))
        assert "still running after 0.5 seconds" in hanging.problems[0]
