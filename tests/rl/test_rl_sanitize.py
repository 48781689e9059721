"""Training meets the sanitizer in one place: opened with the mode asked for, findings handed on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner

from gradsan.cli import main
from gradsan.rl.config import Sanitize
from gradsan.rl.sanitize import sanitized
from gradsan.runner.watch import running


def train_with_a_bug() -> None:
    """The optimizer steps a weight that no backward has reached."""
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        (weight * 2).sum()
        optimizer.step()


@pytest.mark.parametrize("mode", ["adaptive", "deep"])
def test_a_bug_inside_is_said_at_once_and_listed_at_the_end(mode: Sanitize) -> None:
    said: list[str] = []
    with sanitized(mode, said.append) as findings:
        train_with_a_bug()
        assert findings == []
    [finding] = findings
    assert finding.culprit is not None
    where = f"{finding.culprit.file}:{finding.culprit.line}"
    assert said == [f"{finding.severity} {finding.rule} {finding.name} at {where}: {finding.message}"]


@pytest.mark.parametrize("mode", ["adaptive", "deep"])
def test_the_watch_runs_in_the_mode_asked_for_and_ends_with_the_block(mode: Sanitize) -> None:
    with sanitized(mode, print):
        watch = running()
        assert watch is not None
        assert watch.mode == mode
    assert running() is None


def test_off_watches_nothing_and_says_nothing() -> None:
    said: list[str] = []
    with sanitized("off", said.append) as findings:
        assert running() is None
        train_with_a_bug()
    assert (said, findings) == ([], [])


def test_an_exception_of_the_training_passes_through() -> None:
    with pytest.raises(ZeroDivisionError), sanitized("adaptive", print):
        raise ZeroDivisionError
    assert running() is None


@pytest.mark.parametrize(("spoil", "status"), [(True, 1), (False, 0)])
def test_an_error_makes_the_exit_status_of_train_one(
    spoil: bool, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Spoiled(torch.optim.RMSprop):
        """Clears between backward and step, where the agent has its clipping."""

        def step(self, closure: Any = None) -> Any:
            if spoil:
                self.zero_grad()
            return super().step(closure)

    monkeypatch.setattr(torch.optim, "RMSprop", Spoiled)
    monkeypatch.setattr(torch, "set_num_threads", lambda count: None)
    fast = ("--steps", "300", "--eval-episodes", "1", "--out", str(tmp_path / "run"))
    done = CliRunner().invoke(main, ["train", "a2c", "--env", "CartPole-v1", *fast])
    assert done.exit_code == status, done.output
    assert ("error GS" in done.output) == spoil
    assert (tmp_path / "run" / "checkpoint.pt").exists()
