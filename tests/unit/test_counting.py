"""What is said about how often: what was looked at, and what is known to be the same."""

from __future__ import annotations

import pytest

from gradsan.judge.report.counting import Counting
from gradsan.judge.report.findings import Finding
from gradsan.render.how_often import how_often
from harness import run_code

LEAK = """
import torch
q = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(q.parameters(), lr=0.01)
for update in range({updates}):
    s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
    target = r + 0.9 * q(s2).max(1).values  # BUG
    loss = (q(s)[:, 0] - target).pow(2).mean()
    opt.zero_grad()
    {backward}
    opt.step()
"""


def found(updates: int, mode: str, backward: str = "loss.backward()") -> Finding:
    report = run_code(LEAK.format(updates=updates, backward=backward), mode)
    assert report.iterations == updates
    [finding] = report.findings
    assert finding.rule == "GS301"
    return finding


@pytest.mark.parametrize(
    ("updates", "mode"), [(1, "deep"), (30, "deep"), (1, "adaptive"), (436, "adaptive"), (824, "adaptive")]
)
def test_a_leak_in_every_update_is_counted_in_every_update(updates: int, mode: str) -> None:
    finding = found(updates, mode)
    assert finding.first_iteration == 1
    assert finding.met == finding.traced
    assert finding.count == finding.met + finding.repeated == updates


def test_a_leak_in_every_other_update_is_not_claimed_for_all() -> None:
    finding = found(300, "adaptive", "(loss if update % 2 else (q(s)[:, 0] - r).pow(2).mean()).backward()")
    assert finding.first_iteration == 2
    assert finding.met < finding.traced < 300
    assert finding.count < 300


def finding(**counts: int) -> Finding:
    return Finding("GS301", "target-carries-gradient", "error", "", "", None, **counts)


def test_the_sentence_says_what_is_known() -> None:
    def sentence(**counts: int) -> str:
        return how_often(finding(first_iteration=3, **counts))

    assert sentence(count=1, met=1, traced=1) == "in iteration 3"
    assert sentence(count=1, met=1, traced=9) == "in iteration 3"  # some rules speak only once
    assert sentence(count=4, met=1, traced=1) == "4× in iteration 3"
    assert sentence(count=12, met=12, traced=12) == "in all 12 traced iterations, from iteration 3"
    assert sentence(count=1824, met=12, traced=12, repeated=1812) == (
        "in all 12 traced iterations, from iteration 3; same graph in 1,812 more"
    )
    assert sentence(count=6, met=6, traced=12) == "in 6 of 12 traced iterations, from iteration 3"
    assert sentence(count=9, met=1, traced=1, repeated=8) == (
        "in 1 traced iteration, from iteration 3; same graph in 8 more"
    )
    assert sentence(count=117) == "117×, from iteration 3"  # a report of an earlier version


def test_iterations_that_nobody_could_judge_are_neither_with_nor_without() -> None:
    counting, one = Counting(), finding()
    counting.attention(True, from_start=True)
    counting.met("a", one, 0)
    counting.ended(0)
    counting.attention(False, from_start=True)
    counting.ended(1)
    counting.judged(0)
    counting.repeated(10)  # takes the second one along
    assert (one.met, one.traced, one.repeated) == (1, 1, 11)


def test_traced_iterations_that_went_like_the_last_are_traced_all_the_same() -> None:
    counting, one = Counting(), finding()
    counting.attention(True, from_start=True)
    counting.met("a", one, 0)
    counting.ended(0)
    counting.ended(1)
    counting.judged(0)
    counting.repeated(10)
    assert (one.met, one.traced, one.repeated) == (12, 12, 0)


@pytest.mark.parametrize("mode", ["adaptive", "deep"])
def test_as_many_iterations_are_called_traced_as_the_report_counts(mode: str) -> None:
    report = run_code(LEAK.format(updates=60, backward="loss.backward()"), mode)
    assert report.findings[0].traced == report.deep_iterations


def test_a_light_look_says_nothing_about_what_only_a_deep_one_shows() -> None:
    counting, deep_only, light = Counting(), finding(), finding()
    for iteration, deep in enumerate((True, False, False)):
        counting.attention(deep, from_start=True)
        if deep:
            counting.met("deep only", deep_only, iteration)
        if iteration < 2:
            counting.met("light", light, iteration)
        counting.ended(iteration)
    counting.judged(2)
    assert (deep_only.met, deep_only.traced, deep_only.repeated) == (1, 1, 2)
    assert (light.met, light.traced, light.repeated) == (2, 3, 0)


def test_what_has_stopped_is_not_counted_any_more() -> None:
    counting, one = Counting(), finding()
    counting.attention(True, from_start=True)
    for iteration in range(4):
        if iteration < 2:
            counting.met("a", one, iteration)
        counting.ended(iteration)
    counting.judged(3)
    counting.repeated(100)
    assert (one.met, one.traced, one.repeated) == (2, 4, 0)
