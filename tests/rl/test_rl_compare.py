"""`gradsan compare`: what counts as a seed of the same lottery, and where it is drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from gradsan.cli import main
from gradsan.rl.algorithms import preset
from gradsan.rl.comparing import load_groups
from gradsan.rl.errors import ConfigError
from gradsan.rl.logs import EVALUATION
from gradsan.rl.plots import grid
from gradsan.rl.runs import Run, Table

Make = Callable[..., Path]


@pytest.fixture
def made(tmp_path: Path) -> Make:
    """A run as it lies on the disk, with two evaluations that end at `score`."""
    count = 0

    def make(algo: str = "ppo", env: str = "CartPole-v1", score: float = 10.0, **options: Any) -> Path:
        nonlocal count
        count += 1
        run = Run.create(preset(algo, env, **options), tmp_path / f"run{count}")
        table = Table(run.evaluations, EVALUATION)
        for step, mean in ((0, 0.0), (100, score)):
            table.add({"step": step, "mean": mean, "deviation": 1, "lowest": 0, "highest": 1})
        table.close()
        return run.folder

    return make


def described(folders: list[Path], by: tuple[str, ...] = ()) -> dict[str, int]:
    return {f"{group.env}: {group.label}": len(group.curves) for group in load_groups(folders, by)}


def test_runs_that_differ_in_their_seed_alone_are_seeds_of_one_group(made: Make) -> None:
    runs = [made(seed=seed, eval_episodes=seed, checkpoint_every=seed) for seed in (1, 2, 3)]
    assert described(runs) == {"CartPole-v1: ppo": 3}


def test_other_hyperparameters_are_never_pooled_and_the_label_says_which(made: Make) -> None:
    runs = [made(seed=seed, learning_rate=rate) for seed in (1, 2) for rate in (0.001, 0.01)]
    runs.append(made(seed=3, learning_rate=0.01, gamma=0.5))
    assert described(runs) == {
        "CartPole-v1: ppo learning-rate=0.001 gamma=0.98": 2,
        "CartPole-v1: ppo learning-rate=0.01 gamma=0.98": 2,
        "CartPole-v1: ppo learning-rate=0.01 gamma=0.5": 1,
    }
    assert all(group.cautions == () for group in load_groups(runs, ()))


def test_labels_name_only_what_differs_within_an_algorithm_and_environment(made: Make) -> None:
    runs = [made("a2c"), made("ppo", gamma=0.9), made("ppo", gamma=0.8), made("a2c", "Acrobot-v1")]
    assert described(runs) == {
        "CartPole-v1: a2c": 1,
        "CartPole-v1: ppo gamma=0.9": 1,
        "CartPole-v1: ppo gamma=0.8": 1,
        "Acrobot-v1: a2c": 1,
    }


def test_schedules_follow_the_number_of_steps_so_it_divides_too(made: Make) -> None:
    assert len(load_groups([made(seed=1, steps=100), made(seed=2, steps=200)], ())) == 2


@pytest.mark.parametrize("written", ["learning_rate", "learning-rate", "--learning-rate"])
def test_by_groups_by_that_option_and_says_what_is_mixed(made: Make, written: str) -> None:
    runs = [made(seed=seed, learning_rate=rate, gamma=0.9 / seed) for seed in (1, 2) for rate in (0.1, 0.2)]
    groups = load_groups(runs, (written,))
    assert [(group.label, len(group.curves)) for group in groups] == [
        ("ppo learning-rate=0.1", 2),
        ("ppo learning-rate=0.2", 2),
    ]
    assert [group.cautions for group in groups] == [("its runs differ in --gamma",)] * 2


def test_by_algorithm_takes_everything_else_together(made: Make) -> None:
    runs = [made(gamma=0.9), made(gamma=0.8, seed=2), made("a2c")]
    assert described(runs, ("algorithm",)) == {"CartPole-v1: ppo": 2, "CartPole-v1: a2c": 1}


def test_by_an_option_that_only_one_algorithm_has(made: Make) -> None:
    runs = [made("dqn", double=True), made("dqn", double=False), made("ppo")]
    assert list(described(runs, ("double",))) == [
        "CartPole-v1: dqn double=True",
        "CartPole-v1: dqn double=False",
        "CartPole-v1: ppo",
    ]


def test_an_unknown_option_is_refused_with_the_nearest(made: Make) -> None:
    with pytest.raises(ConfigError, match=r"no option 'learning_rat'.*learning-rate"):
        load_groups([made()], ("learning_rat",))


def test_the_same_seed_twice_is_told(made: Make) -> None:
    (group,) = load_groups([made(seed=4), made(seed=4)], ())
    assert group.cautions == ("there is more than one run of seed 4",)


def test_every_environment_has_an_axis_of_its_own() -> None:
    for count, shape in ((1, (1, 1)), (2, (1, 2)), (3, (2, 2)), (5, (3, 2))):
        figure, axes = grid(count)
        assert len(axes) == len(figure.axes) == count
        spec = axes[0].get_subplotspec()
        assert spec is not None
        assert spec.get_gridspec().get_geometry() == shape


def test_the_command_shows_groups_per_environment_and_fits_80_columns(made: Make, tmp_path: Path) -> None:
    runs = [made(seed=s, learning_rate=r, score=100 * s) for s in (1, 2) for r in (0.001, 0.01)]
    runs += [made("dqn", "Acrobot-v1", score=-80.0)]
    output = tmp_path / "plot.png"
    result = CliRunner().invoke(main, ["compare", *map(str, runs), "--output", str(output)])
    assert result.exit_code == 0, result.output
    assert "learning-rate=0.001" in result.output
    assert "Acrobot-v1" in result.output
    assert max(map(len, result.output.replace(str(output), "").splitlines())) <= 80
    assert output.read_bytes().startswith(b"\x89PNG")
    by = CliRunner().invoke(main, ["compare", *map(str, runs), "--by", "gamma", "--output", str(output)])
    assert "careful with ppo gamma=0.98 on CartPole-v1: its runs differ in --learning-rate" in by.output


@pytest.mark.parametrize(
    ("seeds", "said"), [(0, "–"), (1, "one seed"), (2, "tie"), (5, "tie"), (6, "lower"), (9, "lower")]
)
def test_few_seeds_that_agree_are_called_a_tie(seeds: int, said: str) -> None:
    """The interval of two that lie on one side leaves zero out, and they do so by chance every second time."""
    from rl_report import against_theirs

    theirs = np.arange(seeds, dtype=float)
    assert against_theirs(theirs - 0.5, theirs) == said
