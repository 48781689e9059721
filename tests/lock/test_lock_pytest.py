"""`pytest --gradsan-locked`: one entry of the lock for each test."""

from __future__ import annotations

import pytest

from gradsan.lock.collector import FlowCollector

pytest_plugins = ["pytester"]

TESTS = """
import torch

def train(constant):
    net, other = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*net.parameters(), *other.parameters()], lr=0.1)
    for _ in range(3):
        states = torch.ones(8, 3)
        wanted = other(states).detach() if constant else other(states)
        loss = (net(states) - wanted).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()

def test_training():
    train(constant=True)

def test_nothing():
    pass
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("CI", raising=False)

    def run(tests: str, *args: str) -> pytest.RunResult:
        pytester.makepyfile(test_agent=tests)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:xdist", *args)

    return run


def test_each_test_is_compared_with_its_own_entry(run, pytester):
    written = run(TESTS, "--gradsan-write-lock")
    written.assert_outcomes(passed=2)
    written.stdout.fnmatch_lines(["the flow of 1 test is written to *gradsan.lock"])
    text = (pytester.path / "gradsan.lock").read_text()
    assert "test test_agent.py::test_training\n" in text
    assert "test_nothing" not in text
    run(TESTS, "--gradsan-locked").assert_outcomes(passed=2)
    changed = run(TESTS.replace("constant=True", "constant=False"), "--gradsan-locked")
    changed.assert_outcomes(passed=1, failed=1)
    changed.stdout.fnmatch_lines(["*GS901 flow-changed*", "*`loss` now also trains `other`*"])
    other = run(TESTS.replace("test_training", "test_other"), "--gradsan-locked")
    other.assert_outcomes(passed=1, failed=1)
    other.stdout.fnmatch_lines(["*`loss` of `train` is new: it trains `net`*"])


def test_the_ini_file_may_ask_for_the_lock(run, pytester):
    pytester.makeini("[pytest]\ngradsan_locked = true\ngradsan_lock = kept/flows.lock")
    pytester.mkdir("kept")
    run(TESTS, "--gradsan-write-lock").assert_outcomes(passed=2)
    assert (pytester.path / "kept" / "flows.lock").exists()
    run(TESTS.replace("constant=True", "constant=False")).assert_outcomes(passed=1, failed=1)


def test_a_test_that_could_not_be_compared_or_written_down_fails(run, pytester, monkeypatch):
    run(TESTS, "--gradsan-write-lock")
    before = (pytester.path / "gradsan.lock").read_text()
    monkeypatch.setattr(FlowCollector, "finish", lambda self: 1 / 0)
    for option in ("--gradsan-locked", "--gradsan-write-lock"):
        broken = run(TESTS, option, "-k", "training")
        broken.assert_outcomes(failed=1, deselected=1)
        broken.stdout.fnmatch_lines(["*gradsan itself has failed, so the flow of this test is not known*"])
    assert (pytester.path / "gradsan.lock").read_text() == before


def test_without_a_lock_nothing_runs(run):
    refused = run(TESTS, "--gradsan-locked")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["*there is no *gradsan.lock; write it with --gradsan-write-lock*"])
