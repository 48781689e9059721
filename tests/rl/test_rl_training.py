"""Runs on disk: resumed equals uninterrupted, nothing is lost, and faults are sentences."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console

from gradsan.rl import checkpoint
from gradsan.rl.algorithms import ALGORITHMS, preset
from gradsan.rl.config import Config
from gradsan.rl.display import Display
from gradsan.rl.errors import CheckpointError, ConfigError, Diverged, EnvironmentFault
from gradsan.rl.evaluate import evaluate
from gradsan.rl.playing import load_agent
from gradsan.rl.runs import Run, Table, read_table
from gradsan.rl.training import Trainer, TrainingOutcome, crossed, train

SMALL: dict[str, dict[str, Any]] = {
    "dqn": {"hidden": (16,), "learning_starts": 50, "train_every": 7, "updates_per_round": 3, "n_step": 3},
    "reinforce": {"hidden": (16,), "num_envs": 2},
    "a2c": {"hidden": (16,), "num_envs": 2},
    "ppo": {"hidden": (16,), "num_envs": 4, "rollout": 16, "batch_size": 32, "epochs": 2, "normalize": True},
    "sac": {"hidden": (16,), "learning_starts": 50, "batch_size": 32, "buffer_size": 300},
    "td3": {"hidden": (16,), "learning_starts": 50, "batch_size": 32, "buffer_size": 300},
}
STEPS = 600


def quiet() -> Console:
    return Console(file=open(os.devnull, "w"))  # lives as long as the console


def options(algorithm: str, **more: Any) -> Config:
    env = "Pendulum-v1" if algorithm in ("sac", "td3") else "CartPole-v1"
    base = {"steps": STEPS, "eval_every": 250, "eval_episodes": 1, "checkpoint_every": 170, "sanitize": "off"}
    return preset(algorithm, **{"env": env, **base, **SMALL[algorithm], **more})


def fit(config: Config, folder: Path | None = None, resume: Path | None = None) -> TrainingOutcome:
    return train(config, folder, resume=resume, console=quiet())


def equal(left: Any, right: Any) -> bool:
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, torch.Tensor):
        return torch.equal(left, right)
    return bool(left == right)


class Killed(BaseException):
    """Not an Exception: nothing may catch it and tidy up, as with `kill -9`."""


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_a_killed_and_resumed_run_equals_an_uninterrupted_one_bit_for_bit(
    algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = options(algorithm)
    whole = fit(config, tmp_path / "whole")
    kind = ALGORITHMS[algorithm].agent
    advance = kind.advance

    def killed(agent: Any) -> None:
        if agent.step > 450:
            raise Killed
        advance(agent)

    monkeypatch.setattr(kind, "advance", killed)
    with pytest.raises(Killed):
        fit(config, tmp_path / "broken")
    monkeypatch.undo()
    assert 170 <= Run(tmp_path / "broken").saved()[1]["agent"]["step"] <= 450
    resumed = fit(config, resume=tmp_path / "broken")

    expected, found = (Run(tmp_path / name).saved()[1] for name in ("whole", "broken"))
    assert expected["agent"]["step"] >= STEPS
    for key in expected["agent"]:
        assert equal(expected["agent"][key], found["agent"][key]), key
    assert equal(expected["logs"], found["logs"])
    assert whole.returns == resumed.returns
    evaluations = [read_table(Run(tmp_path / name).evaluations) for name in ("whole", "broken")]
    assert evaluations[0] == evaluations[1]
    steps = [
        [row["step"] for row in read_table(Run(tmp_path / name).progress)] for name in ("whole", "broken")
    ]
    assert steps[0] == steps[1]


def test_a_run_leaves_logs_checkpoints_and_a_plot(tmp_path: Path) -> None:
    outcome = fit(options("a2c"), tmp_path / "run")
    assert outcome.finished
    run = Run(outcome.folder)
    assert run.config() == options("a2c")
    assert [row["step"] for row in read_table(run.evaluations)] == [250.0, 500.0, 600.0]
    progress = read_table(run.progress)
    assert {"seconds", "steps_per_second", "return", "a2c_loss"} <= progress[-1].keys()
    assert run.curve.read_bytes().startswith(b"\x89PNG")
    assert list(run.folder.glob("events.out.tfevents.*"))
    assert run.best.is_file()
    assert not list(run.folder.glob(".*"))


def test_an_existing_run_is_never_written_over(tmp_path: Path) -> None:
    first = Run.create(options("ppo"), tmp_path / "run")
    second = Run.create(options("ppo"), tmp_path / "run")
    assert (first.folder.name, second.folder.name) == ("run", "run-2")


def test_ctrl_c_saves_and_the_run_goes_on_from_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = options("dqn", checkpoint_every=10**9)
    kind = ALGORITHMS["dqn"].agent
    advance = kind.advance

    def interrupted(agent: Any) -> None:
        if agent.step > 300:
            signal.raise_signal(signal.SIGINT)
        advance(agent)

    monkeypatch.setattr(kind, "advance", interrupted)
    handler = signal.getsignal(signal.SIGINT)
    outcome = fit(config, tmp_path / "run")
    monkeypatch.undo()
    assert signal.getsignal(signal.SIGINT) is handler
    assert not outcome.finished
    assert 300 < outcome.step < STEPS
    assert fit(config, resume=outcome.folder).step == STEPS
    whole = fit(config, tmp_path / "whole")
    left, right = (Run(folder).saved()[1]["agent"]["parts"] for folder in (outcome.folder, whole.folder))
    assert equal(left, right)


def test_training_works_outside_the_main_thread(tmp_path: Path) -> None:
    outcomes: list[TrainingOutcome] = []
    thread = threading.Thread(
        target=lambda: outcomes.append(fit(options("a2c", steps=100), tmp_path / "run"))
    )
    thread.start()
    thread.join()
    assert outcomes[0].finished


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("nan", "reward that is not finite"),
        ("huge", "reward that is not finite"),
        ("raise", r"OSError: the simulator is gone\. What"),
        ("exit", r"SystemExit: 7\. What"),
    ],
)
def test_a_faulty_environment_ends_in_one_sentence_and_what_was_learned_is_saved(
    fault: str, sentence: str, tmp_path: Path
) -> None:
    import gymnasium as gym
    import rl_toys

    gym.register(f"toys/Faulty-{fault}-v0", entry_point=rl_toys.Faulty, kwargs={"fault": fault, "at": 300})
    config = options("dqn", env=f"toys/Faulty-{fault}-v0")
    with pytest.raises(EnvironmentFault, match=rf"{sentence}.*step \d+ is saved in"):
        fit(config, tmp_path / "run")
    content = Run(tmp_path / "run").saved()[1]
    assert content["agent"]["step"] == 299
    assert content["agent"]["parts"]["replay"]["ring"]["reward"].isfinite().all()
    # It can be continued: in new episodes, and with no transition that joins the old one to them.
    trainer = Trainer(config, tmp_path / "run", content, quiet())
    assert trainer.agent.parts()["replay"].state_dict()["pending"] == {}
    trainer.close()


def test_wrong_files_get_one_sentence(tmp_path: Path) -> None:
    outcome = fit(options("a2c", steps=100), tmp_path / "run")
    whole = Run(outcome.folder).checkpoint.read_bytes()
    cases = {
        "truncated": (whole[: len(whole) // 2], "truncated or not a checkpoint"),
        "empty": (b"", "truncated or not a checkpoint"),
        "text": (b"hello", "truncated or not a checkpoint"),
    }
    for name, (content, sentence) in cases.items():
        path = tmp_path / f"{name}.pt"
        path.write_bytes(content)
        with pytest.raises(CheckpointError, match=sentence) as caught:
            checkpoint.load(path)
        assert "\n" not in str(caught.value)
    torch.save({"weights": torch.zeros(1)}, tmp_path / "other.pt")
    with pytest.raises(CheckpointError, match="not a checkpoint of gradsan"):
        checkpoint.load(tmp_path / "other.pt")
    with pytest.raises(CheckpointError, match="There is no checkpoint"):
        checkpoint.load(tmp_path / "missing.pt")
    with pytest.raises(CheckpointError, match="There is no run"):
        Run(tmp_path / "nowhere").saved()


def test_a_checkpoint_that_would_run_code_is_refused(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (os.mkdir, (str(tmp_path / "sprung"),))

    torch.save({"format": 1, "algorithm": Trap()}, tmp_path / "trap.pt")
    with pytest.raises(CheckpointError):
        checkpoint.load(tmp_path / "trap.pt")
    assert not (tmp_path / "sprung").exists()


def test_a_checkpoint_of_another_shape_is_refused(tmp_path: Path) -> None:
    outcome = fit(options("a2c", steps=100), tmp_path / "run")
    path = outcome.folder / "checkpoint.pt"
    content = checkpoint.load(path)
    content["agent"]["parts"]["networks"] = {"weight": torch.zeros(3)}
    checkpoint.save(path, content)
    with pytest.raises(CheckpointError, match=r"does not fit the configuration: Error.*: Missing key"):
        fit(options("a2c"), resume=outcome.folder)
    for broken in ({"agent": {}}, {"best": None, "agent": {**content["agent"], "parts": []}}):
        checkpoint.save(path, {**content, **broken})
        with pytest.raises(CheckpointError, match="does not fit the configuration"):
            fit(options("a2c"), resume=outcome.folder)
    checkpoint.save(path, {**content, "agent": []})
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        fit(options("a2c"), resume=outcome.folder)


@pytest.mark.parametrize(
    ("option", "value"),
    [("num_envs", 8), ("normalize", False), ("seed", 7), ("hidden", (8,)), ("vectorization", "sync")],
)
def test_what_a_saved_state_cannot_follow_is_refused_and_the_run_is_as_before(
    option: str, value: Any, tmp_path: Path
) -> None:
    folder = fit(options("ppo", steps=100), tmp_path / "run").folder
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(
        ConfigError, match=f"--{option.replace('_', '-')} cannot change when a run is resumed"
    ):
        fit(options("ppo", steps=200, **{option: value}), resume=folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_finished_run_is_left_as_it_is(tmp_path: Path) -> None:
    folder = fit(options("a2c", steps=100), tmp_path / "run").folder
    before = {path: path.read_bytes() for path in (Run(folder).evaluations, Run(folder).checkpoint)}
    again = fit(options("a2c", steps=100), resume=folder)
    assert (again.finished, again.step) == (True, 100)
    assert {path: path.read_bytes() for path in before} == before


def test_what_cannot_be_trained_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="needs Box actions"):
        fit(options("sac", env="CartPole-v1"), tmp_path / "run")
    with pytest.raises(EnvironmentFault, match="Cannot make environment"):
        fit(options("a2c", env="NoSuchGame-v0"), tmp_path / "run")
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="Cannot make a run in"):
        fit(options("a2c"), tmp_path / "file" / "run")


@pytest.mark.parametrize("at", [250, 600])
def test_ctrl_c_stops_an_evaluation_and_the_run_makes_up_for_it(
    at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = options("a2c")
    kind = ALGORITHMS["a2c"].agent
    act = kind.act

    def interrupted(agent: Any, obs: Any) -> Any:
        if agent.step >= at:
            signal.raise_signal(signal.SIGINT)
        return act(agent, obs)

    monkeypatch.setattr(kind, "act", interrupted)
    outcome = fit(config, tmp_path / "run")
    monkeypatch.undo()
    assert (outcome.finished, outcome.step) == (False, at)
    assert fit(config, resume=outcome.folder).finished
    whole = fit(config, tmp_path / "whole")
    runs = [Run(folder) for folder in (outcome.folder, whole.folder)]
    assert equal(*(run.saved()[1]["agent"]["parts"] for run in runs))
    assert runs[0].evaluations.read_text() == runs[1].evaluations.read_text()


def test_ctrl_c_twice_stops_at_once_and_says_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, shown = ALGORITHMS["a2c"].agent, io.StringIO()
    advance = kind.advance

    def interrupted(agent: Any) -> None:
        if agent.step >= 300:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        advance(agent)

    monkeypatch.setattr(kind, "advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train(options("a2c"), tmp_path / "run", console=Console(file=shown))
    assert "in the middle of step 300: the checkpoint of step 170 is kept" in shown.getvalue()
    assert Run(tmp_path / "run").saved()[1]["agent"]["step"] == 170


def test_weights_that_are_not_finite_are_never_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = ALGORITHMS["a2c"].agent
    advance = kind.advance

    def spoiled(agent: Any) -> None:
        advance(agent)
        if agent.step > 200:
            with torch.no_grad():
                next(agent.networks.parameters()).fill_(torch.nan)

    monkeypatch.setattr(kind, "advance", spoiled)
    with pytest.raises(
        Diverged, match=r"not finite any more at step \d+: .*The checkpoint of step 170 is kept"
    ):
        fit(options("a2c"), tmp_path / "run")
    assert Run(tmp_path / "run").saved()[1]["agent"]["step"] == 170


def test_sac_may_do_without_entropy(tmp_path: Path) -> None:
    outcome = fit(options("sac", steps=100, temperature=0.0), tmp_path / "run")
    assert outcome.finished


def test_a_fault_in_evaluation_is_not_waiting_for_whoever_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(*_: Any) -> Any:
        raise EnvironmentFault("The simulator is gone.")

    monkeypatch.setattr("gradsan.rl.training.evaluate", faulty)
    with pytest.raises(EnvironmentFault, match="up to step 250 is saved"):
        fit(options("a2c"), tmp_path / "run")
    with pytest.raises(EnvironmentFault, match="up to step 500 is saved"):
        fit(options("a2c"), resume=tmp_path / "run")


def test_reinforce_counts_the_episodes_that_it_learns_from(tmp_path: Path) -> None:
    folder = fit(options("reinforce", steps=2_000, num_envs=4), tmp_path / "run").folder
    for row in read_table(Run(folder).progress):
        assert row["episodes"] == 4 * row["updates"]


def test_the_bar_fits_into_80_columns() -> None:
    shown = io.StringIO()
    console = Console(file=shown, width=80, force_terminal=True)
    with Display("dqn LunarLander-v3", 100_000, 3_024, console) as display:
        display.update(50_024, -1234.5)
    rows = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", shown.getvalue()).splitlines()
    assert [row for row in rows if row.strip() and not row.startswith("dqn")] == []


def test_a_run_from_a_gpu_plays_and_goes_on_without_one(tmp_path: Path) -> None:
    folder = fit(options("sac", steps=100), tmp_path / "run").folder
    content = checkpoint.load(folder / "checkpoint.pt")
    content["config"]["device"] = "cuda"
    content["agent"]["noise"] = torch.zeros(16, dtype=torch.uint8)  # what CUDA's generators have for a state
    checkpoint.save(folder / "checkpoint.pt", content)
    assert load_agent(Run(folder)).device.type == "cpu"
    again = fit(options("sac", steps=150), resume=folder)
    assert again.step == 150


def test_a_failed_write_leaves_the_previous_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.pt"
    content = {"algorithm": "a2c", "config": {}, "agent": {"step": 1}}
    checkpoint.save(path, content)

    class Unsaveable:
        def __reduce__(self) -> tuple[Any, ...]:
            raise RuntimeError("no room")

    with pytest.raises(CheckpointError, match="no room"):
        checkpoint.save(path, {**content, "agent": Unsaveable()})
    assert checkpoint.load(path)["agent"] == {"step": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["checkpoint.pt"]


def test_tables_drop_rows_written_after_the_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    table = Table(path, ["step", "value"])
    for step in (10, 20, 30):
        table.add({"step": step, "value": step / 3})
    table.close()
    whole = path.read_text()
    Table(path, ["step", "value"], keep_until=20).close()
    assert [row["step"] for row in read_table(path)] == [10.0, 20.0]
    assert whole.startswith(path.read_text())


@pytest.mark.parametrize("what", ["reward", "observation"])
def test_what_is_not_finite_is_noticed_in_evaluation(tmp_path: Path, what: str) -> None:
    import rl_toys

    agent = load_agent(Run(fit(options("a2c", steps=100, env="toys/Identity-v0"), tmp_path / "run").folder))
    env = rl_toys.Faulty("nan", at=3) if what == "reward" else rl_toys.Blind("first")
    with pytest.raises(EnvironmentFault, match=f"{what} that is not finite in evaluation"):
        evaluate(agent, env, 1, seed=0)


def test_marks_are_crossed_once() -> None:
    assert [crossed(a, b, 10) for a, b in ((0, 9), (9, 10), (10, 11), (5, 25))] == [False, True, False, True]
    assert not crossed(0, 100, 0)


def test_a_config_survives_json(tmp_path: Path) -> None:
    run = Run.create(options("sac"), tmp_path / "run")
    assert run.config() == options("sac")
    written = json.loads((run.folder / "config.json").read_text())
    (run.folder / "config.json").write_text(json.dumps({**written, "no_such_option": 1}))
    with pytest.raises(CheckpointError, match="not one of this version"):
        run.config()


def test_bootstrap_intervals_hold_the_mean_and_shrink_to_it() -> None:
    from gradsan.rl.comparing import bootstrap

    rng = np.random.default_rng(0)
    mean, low, high = bootstrap(rng.normal(5, 1, (30, 1)))
    assert low[0] < mean[0] < high[0]
    assert high[0] - low[0] == pytest.approx(2 * 1.96 / np.sqrt(30), rel=0.3)  # 30 draws estimate σ to ±13 %
    same = bootstrap(np.full((4, 2), 7.0))
    assert all((part == 7).all() for part in same)
