"""Many seeds: parsed, run by whoever runs them, retried once, compared; and in real processes."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner
from rich.console import Console
from test_rl_training import equal

from gradsan.cli import main
from gradsan.rl.algorithms import preset
from gradsan.rl.display import Display
from gradsan.rl.errors import ConfigError
from gradsan.rl.runs import Run
from gradsan.rl.seed_worker import train_seed
from gradsan.rl.seeds import SeedJob, SeedOutcome, jobs_for, parse_seeds, train_seeds
from gradsan.rl.seeds_display import SeedsDisplay
from gradsan.rl.signals import StopRequest
from gradsan.rl.training import TrainingOutcome, train

SIZE: dict[str, Any] = {"steps": 300, "num_envs": 2, "hidden": (8,), "sanitize": "off"}
SMALL = SIZE | {"eval_every": 0, "eval_episodes": 1, "checkpoint_every": 100}


@pytest.mark.parametrize(
    ("text", "seeds"),
    [("3", [1, 2, 3]), ("1-4", [1, 2, 3, 4]), ("7,", [7]), ("4,9, 4", [4, 9]), ("0-1,8", [0, 1, 8])],
)
def test_seeds_are_a_number_a_range_or_a_list(text: str, seeds: list[int]) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "a", "3-1", "1-2-3", "-4", "1;2", "0"])
def test_other_seeds_are_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ConfigError, match="--seeds"):
        parse_seeds(text)


class Attempts:
    """A runner whose attempts end as they are told to, one list for each seed."""

    def __init__(self, ends: dict[int, list[Callable[[SeedJob], SeedOutcome]]]) -> None:
        self.ends = ends
        self.rounds: list[list[int]] = []

    def __call__(
        self, jobs: Sequence[SeedJob], display: SeedsDisplay, _stop: StopRequest
    ) -> Iterator[SeedOutcome]:
        self.rounds.append([job.seed for job in jobs])
        for job in jobs:
            display.update(job.seed, 10, None)
            yield self.ends[job.seed].pop(0)(job)


def works(job: SeedJob) -> SeedOutcome:
    job.folder.mkdir(parents=True, exist_ok=True)
    return SeedOutcome(job, TrainingOutcome(job.folder, 300, True, 1.0, [5.0]))


def fails(job: SeedJob) -> SeedOutcome:
    job.folder.mkdir(parents=True, exist_ok=True)
    return SeedOutcome(job, error="It broke.")


def refuses(job: SeedJob) -> SeedOutcome:
    return SeedOutcome(job, error="There is no such game.")


def carried_out(
    above: Path, attempts: Attempts, stop: StopRequest | None = None
) -> tuple[list[SeedOutcome], str]:
    jobs = jobs_for(preset("a2c", "CartPole-v1", **SMALL), list(attempts.ends), above)
    shown = io.StringIO()
    display = SeedsDisplay("a2c CartPole-v1", len(jobs), 300, Console(file=shown, width=200))
    return train_seeds(jobs, attempts, display, stop or StopRequest()), shown.getvalue()


def test_a_seed_that_failed_is_reported_and_tried_once_more(tmp_path: Path) -> None:
    attempts = Attempts({1: [works], 2: [fails, works], 3: [fails, fails]})
    ended, shown = carried_out(tmp_path, attempts)
    assert attempts.rounds == [[1, 2, 3], [2, 3]]
    assert [one.error for one in ended] == ["", "", "It broke."]
    assert "seed 2 failed: It broke. Trying again from the start." in shown
    assert "seed 3 failed again: It broke." in shown
    assert "seed 2: 5.0 after 300 steps in 1 s" in shown


def test_what_cannot_begin_is_an_error_at_once_and_not_one_for_each_seed(tmp_path: Path) -> None:
    attempts = Attempts({1: [refuses], 2: [refuses]})
    with pytest.raises(ConfigError, match="no such game"):
        carried_out(tmp_path, attempts)
    assert len(attempts.rounds) == 1


def test_nothing_is_tried_again_after_a_request_to_stop(tmp_path: Path) -> None:
    stop = StopRequest()
    stop.requested = True
    attempts = Attempts({1: [fails], 2: [works]})
    ended, shown = carried_out(tmp_path, attempts, stop)
    assert len(attempts.rounds) == 1
    assert [bool(one.error) for one in ended] == [True, False]
    assert "seed 1 failed: It broke." in shown


def test_folders_are_those_of_train_and_none_is_written_over(tmp_path: Path) -> None:
    config = preset("a2c", "CartPole-v1", **SMALL)
    (tmp_path / "a2c-CartPole-v1-seed2").mkdir()
    (tmp_path / "a2c-CartPole-v1-seed2" / "mine").write_text("kept")
    names = [job.folder.name for job in jobs_for(config, [1, 2], tmp_path)]
    assert names == ["a2c-CartPole-v1-seed1", "a2c-CartPole-v1-seed2-2"]


class Breaks(Display):
    """Ends the run from outside, as a killed process would."""

    def update(self, step: int, mean_return: float | None) -> None:
        if step > 200:
            raise MemoryError


def weights(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = Run(folder).saved()[1]["agent"]
    return content


def test_a_second_attempt_goes_on_from_the_checkpoint_and_ends_as_one_would_have(tmp_path: Path) -> None:
    quiet = Console(file=io.StringIO())
    job = SeedJob(preset("a2c", "CartPole-v1", **SMALL), tmp_path / "seed")
    with pytest.raises(MemoryError):
        train_seed(job, Breaks("broken", 300, console=quiet))
    assert job.saved
    outcome = train_seed(job, Display("again", 300, console=quiet))
    assert outcome.finished
    train(job.config, tmp_path / "whole", console=quiet)
    assert equal(weights(job.folder), weights(tmp_path / "whole"))


def test_the_display_fits_80_columns_and_has_a_line_for_each_seed_under_way() -> None:
    shown = io.StringIO()
    console = Console(file=shown, width=80, force_terminal=True, color_system=None)
    with SeedsDisplay("ppo LunarLander-v3", 20, 100_000, console) as display:
        for seed in (1, 2):
            display.update(seed, 50_000, -123.4)
        display._bar.refresh()
        lines = [line.rstrip() for line in shown.getvalue().splitlines()]
    last = lines[-3:]
    assert "ppo LunarLander-v3" in last[0]
    assert "0/20 seeds" in last[0]
    assert [line.split()[:2] for line in last[1:]] == [["seed", "1"], ["seed", "2"]]
    assert all("-123.4" in line and "50,000" in line for line in last[1:])


GAME = """
import os
from pathlib import Path
import gymnasium
from gymnasium.envs.classic_control import CartPoleEnv

class Fragile(CartPoleEnv):
    def step(self, action):
        if os.path.exists("brittle"):
            os.remove("brittle")
            print("something is wrong here", flush=True)
            os._exit(3)
        return super().step(action)

gymnasium.register("Fragile-v0", entry_point=Fragile, max_episode_steps=500)
"""


def test_seeds_in_processes_survive_a_death_and_learn_what_train_learns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "fragile_game.py").write_text(GAME)
    (tmp_path / "brittle").write_text("the first who steps")
    options = ["--env", "fragile_game:Fragile-v0", "--steps", "300", "--num-envs", "2", "--sanitize", "off"]
    options += ["--eval-every", "0", "--eval-episodes", "1", "--vectorization", "sync"]
    result = CliRunner().invoke(main, ["train", "a2c", *options, "--seeds", "4,6", "--at-once", "2"])
    assert result.exit_code == 0, result.output
    assert "failed: Its process ended with status 3" in result.output
    assert "2 " in next(line for line in result.output.splitlines() if "│ a2c" in line)
    single = CliRunner().invoke(main, ["train", "a2c", *options, "--seed", "6", "--out", "alone"])
    assert single.exit_code == 0, single.output
    runs = tmp_path / "runs"
    assert equal(weights(runs / "a2c-fragile_game_Fragile-v0-seed6"), weights(tmp_path / "alone"))
    assert (runs / "a2c-fragile_game_Fragile-v0-seeds.png").is_file()
    assert torch.get_num_threads() == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--seeds", "x"), "give a number of seeds"),
        (("--seeds", "2", "--seed", "3"), "without --resume and --seed"),
        (("--at-once", "2"), "go with --seeds"),
        (("--seeds", "2", "--address", "auto"), "goes with --ray"),
        (("--seeds", "2", "--ray"), "pip install 'gradsan[ray]'"),
    ],
)
def test_what_does_not_go_together_gets_one_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    result = CliRunner().invoke(main, ["train", "a2c", "--env", "CartPole-v1", *arguments])
    assert result.exit_code in (1, 2)
    assert sentence in " ".join(result.output.split())
