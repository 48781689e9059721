"""Transitions are the same whatever the autoreset mode, and state comes back exactly."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import rl_toys
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from gradsan.rl.envs import Envs, EnvStep
from gradsan.rl.errors import EnvironmentFault
from gradsan.rl.journal import Journal
from gradsan.rl.looped import LoopedEnvs
from gradsan.rl.make import make_env, make_envs
from gradsan.rl.spaces import Actions, Observations, seen_and_done

MODES = list(AutoresetMode)


def counters(mode: AutoresetMode, num_envs: int = 2) -> Envs:
    envs = Envs(SyncVectorEnv([rl_toys.Counter] * num_envs, autoreset_mode=mode))
    envs.reset(seed=0)
    return envs


def transitions(envs: Envs, count: int) -> list[list[tuple[Any, ...]]]:
    """Valid transitions per environment: (obs, reward, next_obs, terminated, truncated)."""
    found: list[list[tuple[Any, ...]]] = [[] for _ in range(envs.num_envs)]
    while min(len(one) for one in found) < count:
        obs = envs.obs
        step = envs.step(np.zeros(envs.num_envs, dtype=np.int64))
        for index in np.flatnonzero(step.valid):
            ends = (bool(step.terminated[index]), bool(step.truncated[index]))
            next_obs = tuple(step.next_obs[index].tolist())
            found[index].append((tuple(obs[index].tolist()), float(step.reward[index]), next_obs, *ends))
    return found


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_gives_the_transitions_that_really_happened(mode: AutoresetMode) -> None:
    expected = [
        ((0, 0), 1.0, (0, 1), False, False),
        ((0, 1), 2.0, (0, 2), False, False),
        ((0, 2), 3.0, (0, 3), False, True),
        ((1, 0), 1.0, (1, 1), False, False),
        ((1, 1), 2.0, (1, 2), False, False),
        ((1, 2), 3.0, (1, 3), True, False),
        ((2, 0), 1.0, (2, 1), False, False),
    ]
    for found in transitions(counters(mode), 7):
        assert found[:7] == expected


@pytest.mark.parametrize("mode", MODES)
def test_episodes_are_counted_once_with_return_and_length(mode: AutoresetMode) -> None:
    envs = counters(mode, num_envs=1)
    transitions(envs, 6)
    assert envs.finished == [(6.0, 3), (6.0, 3)]


def rollout(envs: Envs, count: int, seed: int) -> list[EnvStep]:
    rng = np.random.default_rng(seed)
    shape, high = envs.vector.action_space.shape, 2
    discrete = isinstance(envs.vector.single_action_space, gym.spaces.Discrete)
    draw = (lambda: rng.integers(high, size=shape)) if discrete else (lambda: rng.uniform(-1, 1, shape))
    return [envs.step(draw().astype(envs.vector.action_space.dtype)) for _ in range(count)]


@pytest.mark.parametrize(
    ("env_id", "num_envs", "vectorization"),
    [
        ("CartPole-v1", 8, "native"),
        ("CartPole-v1", 2, "sync"),
        ("Pendulum-v1", 2, "sync"),
        ("Acrobot-v1", 2, "async"),
    ],
)
def test_a_restored_environment_continues_bit_for_bit(env_id: str, num_envs: int, vectorization: str) -> None:
    first = make_envs(env_id, num_envs, vectorization)
    first.reset(seed=3)
    rollout(first, 250, seed=1)
    state = first.state_dict()
    second = make_envs(env_id, num_envs, vectorization)
    second.reset(seed=99)
    second.load_state_dict(state)
    for left, right in zip(rollout(first, 250, seed=2), rollout(second, 250, seed=2), strict=True):
        for one, other in zip(left, right, strict=True):
            np.testing.assert_array_equal(one, other)
    first.close()
    second.close()


def test_an_environment_that_cannot_be_replayed_says_so() -> None:
    env = Journal(rl_toys.Elsewhere())
    env.reset(seed=0)
    env.step(0)
    saved = env.snapshot
    with pytest.warns(UserWarning, match="not bit for bit"):
        env.snapshot = saved


def test_native_vector_environments_are_taken_where_they_pay() -> None:
    assert type(make_envs("CartPole-v1", 8).vector.unwrapped).__name__ == "CartPoleVectorEnv"
    assert isinstance(make_envs("CartPole-v1", 1).vector, SyncVectorEnv)


@pytest.mark.parametrize(
    ("env_id", "sentence"),
    [
        ("NoSuchGame-v0", "Cannot make environment 'NoSuchGame-v0'"),
        ("CartPole-v99", "Cannot make environment 'CartPole-v99'"),
    ],
)
def test_unknown_environments_get_one_sentence(env_id: str, sentence: str) -> None:
    with pytest.raises(EnvironmentFault, match=sentence) as caught:
        make_env(env_id)
    assert "\n" not in str(caught.value)


def test_faults_of_an_environment_are_put_into_words() -> None:
    for fault, sentence in (
        ("nan", "reward that is not finite"),
        ("raise", "OSError: the simulator is gone"),
    ):
        envs = Envs(SyncVectorEnv([lambda fault=fault: rl_toys.Faulty(fault, at=2)]))
        envs.reset(seed=0)
        envs.step(np.zeros(1, dtype=np.int64))
        with pytest.raises(EnvironmentFault, match=sentence):
            envs.step(np.zeros(1, dtype=np.int64))


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("when", ["first", "last"])
def test_an_observation_that_is_not_finite_is_noticed_wherever_it_is(mode: AutoresetMode, when: str) -> None:
    envs = Envs(SyncVectorEnv([lambda: rl_toys.Blind(when)], autoreset_mode=mode))

    def one_episode() -> None:
        envs.reset(seed=0)
        for _ in range(8):
            envs.step(np.zeros(1, dtype=np.int64))

    with pytest.raises(EnvironmentFault, match="observation that is not finite"):
        one_episode()


def test_spaces_that_no_agent_takes_are_refused_with_advice() -> None:
    with pytest.raises(EnvironmentFault, match="needs Discrete actions; for Box, try"):
        Actions.of(gym.spaces.Box(-1, 1, (2,)), need="discrete")
    with pytest.raises(EnvironmentFault, match="needs Box actions; for Discrete, try"):
        Actions.of(gym.spaces.Discrete(2), need="continuous")
    with pytest.raises(EnvironmentFault, match="bounds must be finite"):
        seen_and_done(gym.spaces.Box(-1, 1, (2,)), gym.spaces.Box(-np.inf, 1, (2,)), "continuous")
    widest = np.finfo(np.float32).max
    with pytest.raises(EnvironmentFault, match="bounds must be finite"):
        seen_and_done(gym.spaces.Box(-1, 1, (2,)), gym.spaces.Box(-widest, widest, (2,)), "continuous")
    with pytest.raises(EnvironmentFault, match="take vector observations; for images, try"):
        seen_and_done(
            gym.spaces.Box(0, 255, (64, 64, 3), np.uint8), gym.spaces.Box(-1, 1, (2,)), "continuous"
        )
    with pytest.raises(EnvironmentFault, match="FlattenObservation"):
        Observations.of(gym.spaces.Dict({"a": gym.spaces.Discrete(2)}))


def test_actions_reach_the_environment_in_its_own_terms() -> None:
    box = Actions.of(gym.spaces.Box(np.array([[-1.0, 0.0]]), np.array([[3.0, 10.0]]), dtype=np.float64))
    assert box.size == 2
    np.testing.assert_array_equal(box.from_unit(np.array([[-1.0, 1.0]])), [[[-1.0, 10.0]]])
    np.testing.assert_array_equal(box.to_env(np.array([[-9.0, 5.0]])), [[[-1.0, 5.0]]])
    assert Actions.of(gym.spaces.Discrete(3, start=5)).to_env(np.array([2])).tolist() == [7]


def test_actions_stay_inside_bounds_that_are_no_round_numbers() -> None:
    rng = np.random.default_rng(0)
    for low, high in np.sort(rng.uniform(-5, 5, (500, 2)).astype(np.float32), axis=1):
        space = gym.spaces.Box(low, high, (3,))
        for action in Actions.of(space).from_unit(np.array([[-1.0, 0.999999, 1.0]], np.float32)):
            assert space.contains(action), (low, high, action)


def test_whole_numbers_are_the_nearest_ones() -> None:
    space = gym.spaces.Box(-2, 2, (1,), np.int32)
    units = np.linspace(-1, 1, 1_000, dtype=np.float32)[:, None]
    counts = np.bincount(Actions.of(space).from_unit(units).ravel() + 2)
    assert counts.tolist() == [125, 250, 250, 250, 125]
    assert Actions.of(space).to_env(np.array([[0.6], [-1.4], [7.0]], np.float32)).ravel().tolist() == [
        1,
        -1,
        2,
    ]


def test_copies_in_a_loop_are_what_gymnasiums_own_loop_makes_of_them() -> None:
    copies = [lambda: gym.make("CartPole-v1", max_episode_steps=7)] * 3
    ours = LoopedEnvs(copies)
    theirs = SyncVectorEnv(copies, autoreset_mode=AutoresetMode.DISABLED)
    chance = np.random.default_rng(0)
    assert np.array_equal(ours.reset(seed=5)[0], theirs.reset(seed=5)[0])
    for _ in range(40):
        action = chance.integers(2, size=3)
        own, other = ours.step(action), theirs.step(action)
        for mine, expected in zip(own[:4], other[:4], strict=True):
            assert np.array_equal(mine, expected)
            assert mine.dtype == expected.dtype
        if (ended := own[2] | own[3]).any():
            again = [envs.reset(options={"reset_mask": ended})[0] for envs in (ours, theirs)]
            assert np.array_equal(*again)


def test_an_observation_of_another_kind_is_converted_or_refused_as_by_gymnasium() -> None:
    class Odd(gym.Env[Any, Any]):
        observation_space = gym.spaces.Box(-1, 1, (2,), np.float32)
        action_space = gym.spaces.Discrete(2)
        seen: Any = np.array([0.25, 0.5])

        def reset(self, **_: Any) -> Any:
            return np.zeros(2, np.float32), {}

        def step(self, action: Any) -> Any:
            return self.seen, 1.0, False, False, {"told": 3}

    envs = LoopedEnvs([Odd])
    envs.reset()
    obs, *_, info = envs.step(np.array([0]))
    assert obs.dtype == np.float32
    assert obs.tolist() == [[0.25, 0.5]]
    assert info["told"].tolist() == [3]
    Odd.seen = np.zeros(3, np.float32)
    with pytest.raises(ValueError, match="shape"):
        envs.step(np.array([0]))
