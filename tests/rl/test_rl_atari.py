"""Atari games with the usual wrappers. Few steps: that they are learned takes hours, not tests."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

from gradsan.rl.algorithms import build, preset
from gradsan.rl.errors import EnvironmentFault
from gradsan.rl.make import make_env, make_envs
from gradsan.rl.playing import load_agent, play
from gradsan.rl.runs import Run
from gradsan.rl.training import train

PONG = "ALE/Pong-v5"
needs_ale = pytest.mark.skipif(
    importlib.util.find_spec("ale_py") is None or importlib.util.find_spec("cv2") is None,
    reason="Atari needs the extra gradsan[atari]",
)
SMALL: dict[str, dict[str, Any]] = {
    "dqn": {"steps": 48, "learning_starts": 16, "batch_size": 8, "buffer_size": 32, "train_every": 8},
    "ppo": {"steps": 32, "num_envs": 2, "rollout": 8, "batch_size": 8, "epochs": 1},
    "a2c": {"steps": 20, "num_envs": 2},
}
SHORT: dict[str, Any] = {"eval_every": 0, "eval_episodes": 1, "sanitize": "off"}


@pytest.fixture
def _short_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """A game of Pong lasts a thousand steps; here it is cut."""
    made = gym.make

    def cut(env_id: str, max_episode_steps: int | None = None, **options: Any) -> Any:
        return made(env_id, max_episode_steps or 40, **options)

    monkeypatch.setattr(gym, "make", cut)


@needs_ale
def test_a_game_is_seen_as_four_small_grey_pictures() -> None:
    env = make_env(PONG)
    space = env.observation_space
    assert (space.shape, space.dtype) == ((4, 84, 84), np.uint8)
    obs, _ = env.reset(seed=1)
    assert (obs.shape, obs.dtype) == ((4, 84, 84), np.uint8)
    env.close()


@needs_ale
def test_learning_sees_signs_and_the_log_counts_the_score() -> None:
    envs = make_envs("ALE/MsPacman-v5")
    envs.reset(seed=0)
    rng = np.random.default_rng(0)
    rewards: list[float] = []
    while not envs.finished:
        step = envs.step(rng.integers(envs.vector.single_action_space.n, size=1))
        rewards += step.reward.tolist()
    assert set(rewards) == {0.0, 1.0}  # a pellet is worth 10, a ghost 200
    ((score, length),) = envs.finished
    assert score >= 10 * sum(rewards) > 0
    assert length == len(rewards)
    envs.close()


@needs_ale
@pytest.mark.usefixtures("_short_games")
@pytest.mark.parametrize("algorithm", list(SMALL))
def test_agents_train_on_a_game_and_play_it(algorithm: str, tmp_path: Path) -> None:
    config = preset(algorithm, PONG, **SMALL[algorithm], **SHORT)
    outcome = train(config, tmp_path / "run")
    assert outcome.finished
    assert len(play(load_agent(Run(tmp_path / "run")), 1, seed=0)) == 1


@needs_ale
@pytest.mark.usefixtures("_short_games")
def test_a_game_is_filmed_in_colour(tmp_path: Path) -> None:
    train(preset("a2c", PONG, **SMALL["a2c"], **SHORT), tmp_path / "run")
    play(load_agent(Run(tmp_path / "run")), 1, seed=0, film=tmp_path / "film.gif")
    from PIL import Image

    with Image.open(tmp_path / "film.gif") as image:
        assert image.size == (160, 210)


@needs_ale
@pytest.mark.usefixtures("_short_games")
def test_a_game_goes_on_where_it_was_saved_though_the_emulator_draws_chance() -> None:
    """The second game: the first one begins with a seed, the others where the emulator's chance was."""
    one, two = (make_envs(PONG, 1) for _ in range(2))
    one.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(55):
        one.step(rng.integers(6, size=1))
    two.reset(seed=2)
    two.load_state_dict(one.state_dict())
    for action in rng.integers(6, size=(60, 1)):
        left, right = one.step(action), two.step(action)
        assert np.array_equal(left.next_obs, right.next_obs)
        assert np.array_equal(left.reward, right.reward)
    one.close()
    two.close()


@needs_ale
@pytest.mark.usefixtures("_short_games")
def test_the_replay_of_a_game_keeps_about_one_frame_per_step() -> None:
    config = preset("dqn", PONG, **{**SMALL["dqn"], "steps": 200, "buffer_size": 100}, **SHORT)
    agent: Any = build(config, make_envs(PONG))
    while agent.step < config.steps:
        agent.interact()
    assert agent.replay.size == 100
    assert agent.replay.frames.used <= 100 + 4 * 4
    batch = agent.replay.sample(4, agent.rng, agent.device)
    assert (batch.obs.shape, batch.obs.dtype) == ((4, 4, 84, 84), torch.uint8)


def test_games_have_defaults_of_their_own() -> None:
    assert preset("dqn", PONG).loss == "huber"  # type: ignore[attr-defined]
    assert preset("ppo", "ale_py:ALE/Breakout-v5").rollout == 128  # type: ignore[attr-defined]
    assert preset("ppo", "CartPole-v1").rollout == 32  # type: ignore[attr-defined]


def test_without_the_extra_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ale_py" else find(name))
    with pytest.raises(EnvironmentFault, match=r"ALE/Pong-v5 needs ale_py: pip install 'gradsan\[atari\]'"):
        make_env(PONG)


@needs_ale
def test_a_game_that_does_not_exist_gets_one_sentence() -> None:
    with pytest.raises(EnvironmentFault, match="Cannot make environment 'ALE/Pongg-v5'"):
        make_env("ALE/Pongg-v5")


@needs_ale
def test_copies_that_could_not_be_saved_are_refused() -> None:
    with pytest.raises(EnvironmentFault, match="--vectorization sync or async"):
        make_envs(PONG, 2, "native")
