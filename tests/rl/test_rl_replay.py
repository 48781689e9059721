"""What goes into replay and rollout comes out: nothing learned from resets, nothing across episodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import rl_toys
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from gradsan.rl.envs import Envs, EnvStep
from gradsan.rl.errors import ConfigError
from gradsan.rl.replay import Batch, Replay
from gradsan.rl.rollout import Rollout
from gradsan.rl.spaces import Observations

CPU = torch.device("cpu")
SEEN = Observations((2,), np.dtype(np.float32))


def counters(mode: AutoresetMode, num_envs: int) -> Envs:
    envs = Envs(SyncVectorEnv([rl_toys.Counter] * num_envs, autoreset_mode=mode))
    envs.reset(seed=0)
    return envs


def fill(replay: Replay, envs: Envs, count: int) -> None:
    for _ in range(count):
        obs = envs.obs
        action = np.arange(envs.num_envs)
        replay.add(obs, action, envs.step(np.zeros(envs.num_envs, dtype=np.int64)))


def everything(replay: Replay) -> list[Any]:
    batch = Batch(*replay.state_dict()["ring"].values())
    return [
        (tuple(o), tuple(n), r, t, d) for o, _, r, n, t, d in zip(*(f.tolist() for f in batch), strict=True)
    ]


def replay_of(capacity: int, n_step: int = 1) -> Replay:
    return Replay(capacity, SEEN, np.zeros((), np.int64), discount=0.5, n_step=n_step)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_no_transition_joins_two_episodes_and_truncation_still_bootstraps(mode: AutoresetMode) -> None:
    replay = replay_of(100)
    fill(replay, counters(mode, 2), 9)
    for obs, next_obs, reward, terminated, discount in everything(replay):
        assert obs[0] == next_obs[0]
        assert next_obs[1] == obs[1] + 1 == reward
        assert terminated == (next_obs[1] == 3 and obs[0] % 2 == 1)
        assert discount == 0.5


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_n_step_returns_stop_at_the_end_of_the_episode(mode: AutoresetMode) -> None:
    replay = replay_of(100, n_step=2)
    fill(replay, counters(mode, 1), 12)
    first_two_episodes = sorted(row for row in everything(replay) if row[0][0] < 2)
    assert first_two_episodes == [
        ((0, 0), (0, 2), 1 + 0.5 * 2, False, 0.25),
        ((0, 1), (0, 3), 2 + 0.5 * 3, False, 0.25),
        ((0, 2), (0, 3), 3.0, False, 0.5),
        ((1, 0), (1, 2), 1 + 0.5 * 2, False, 0.25),
        ((1, 1), (1, 3), 2 + 0.5 * 3, True, 0.25),
        ((1, 2), (1, 3), 3.0, True, 0.5),
    ]


def test_the_ring_keeps_the_newest_and_wraps_inside_a_batch() -> None:
    replay = replay_of(5)
    fill(replay, counters(AutoresetMode.DISABLED, 3), 4)
    assert replay.size == 5
    kept = replay.state_dict()["ring"]["reward"].tolist()
    # 12 rewards 1 1 1, 2 2 2, 3 3 3, 1 1 1 through 5 places: the last five, the ring's start at place 2.
    assert kept == [1.0, 1.0, 3.0, 3.0, 1.0]


def test_samples_are_copies_and_follow_from_the_generator() -> None:
    replay = replay_of(10)
    fill(replay, counters(AutoresetMode.DISABLED, 1), 6)
    one = replay.sample(8, np.random.default_rng(1), CPU)
    two = replay.sample(8, np.random.default_rng(1), CPU)
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))
    before = one.obs.clone()
    fill(replay, counters(AutoresetMode.DISABLED, 1), 10)
    assert torch.equal(one.obs, before)


def test_state_comes_back_with_what_is_pending() -> None:
    envs = counters(AutoresetMode.DISABLED, 2)
    first = replay_of(7, n_step=3)
    fill(first, envs, 5)
    second = replay_of(7, n_step=3)
    second.load_state_dict(first.state_dict())
    step = envs.step(np.zeros(2, dtype=np.int64))
    for replay in (first, second):
        replay.add(envs.obs, np.arange(2), step)
    assert everything(first) == everything(second)


def test_a_full_ring_goes_on_in_a_larger_one_with_nothing_empty_in_between() -> None:
    small, large, envs = replay_of(4), replay_of(8), counters(AutoresetMode.SAME_STEP, 1)
    fill(small, envs, 6)
    large.load_state_dict(small.state_dict())
    fill(large, envs, 3)
    assert [discount for *_, discount in everything(large)] == [0.5] * 7
    assert [(obs[0], obs[1]) for obs, *_ in everything(large)] == [
        (step // 3, step % 3) for step in range(2, 9)
    ]


def test_what_is_pending_goes_on_with_fewer_steps() -> None:
    def add(replay: Replay, time: int) -> None:
        flag = np.zeros(1, np.bool_)
        step = EnvStep(np.full((1, 2), time + 1), np.ones(1, np.float32), flag, flag, ~flag)
        replay.add(np.full((1, 2), time), np.zeros(1, np.int64), step)

    long, short = replay_of(20, n_step=5), replay_of(20, n_step=2)
    for time in range(4):
        add(long, time)
    short.load_state_dict(long.state_dict())
    assert short.size == 0
    for time in range(4, 6):
        add(short, time)
    # What was waited for too long goes as far as it is known; then all is as usual.
    seen = [(obs[0], next_obs[0], discount) for obs, next_obs, _, _, discount in everything(short)]
    assert seen == [(0, 5, 0.5**5), (1, 5, 0.5**4), (2, 5, 0.5**3), (3, 5, 0.5**2), (4, 6, 0.5**2)]


def test_a_saved_replay_that_does_not_fit_is_refused() -> None:
    big, small = replay_of(10), replay_of(2)
    fill(big, counters(AutoresetMode.DISABLED, 1), 6)
    with pytest.raises(ConfigError, match="more than 2"):
        small.load_state_dict(big.state_dict())
    with pytest.raises(ConfigError, match="at least 1"):
        replay_of(0)


def collected(mode: AutoresetMode, length: int) -> Any:
    envs = counters(mode, 1)
    rollout = Rollout(length, 1, SEEN, np.zeros((), np.int64))
    for _ in range(length):
        obs = envs.obs
        step: EnvStep = envs.step(np.zeros(1, dtype=np.int64))
        rollout.add(obs, np.zeros(1, dtype=np.int64), step, following=envs.obs)
    # The value of a state is 100 × episode + time: an advantage shows which state it bootstrapped from.
    return rollout.samples(lambda obs: obs @ np.array([100, 1], np.float32), 1.0, 0.0, CPU)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_rollouts_bootstrap_from_the_state_that_was_reached(mode: AutoresetMode) -> None:
    samples = collected(mode, 9)
    for obs, advantage in zip(samples.obs.tolist(), samples.advantage.tolist(), strict=True):
        episode, now = obs
        value, reward = 100 * episode + now, now + 1
        ended_by_itself = now == 2 and episode % 2 == 1
        assert advantage == reward + (0 if ended_by_itself else value + 1) - value
    assert samples.advantage.shape == samples.returns.shape == samples.value.shape


def test_steps_spent_on_resets_are_left_out() -> None:
    assert len(collected(AutoresetMode.NEXT_STEP, 8).obs) == 6
    assert len(collected(AutoresetMode.SAME_STEP, 8).obs) == 8
