"""Evaluation apart from training: an environment of its own, seeds of its own, the greedy policy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from gradsan.rl.agent import Agent
from gradsan.rl.envs import FAULTS, require_finite
from gradsan.rl.errors import EnvironmentFault, in_a_line

# Episodes of environments without a time limit end here.
LONGEST = 100_000


class Stopped(Exception):
    """Somebody wants to stop: half an evaluation says nothing."""


def evaluate(
    agent: Agent,
    env: gym.Env[Any, Any],
    episodes: int,
    seed: int,
    before_step: Callable[[], None] = lambda: None,
) -> NDArray[np.float64]:
    """Return of each episode. The same seed gives the same episodes, so evaluations can be compared."""
    return np.array([_episode(agent, env, one, before_step) for one in episode_seeds(seed, episodes)])


def episode_seeds(seed: int, episodes: int) -> list[int]:
    """What the environment is reset with for each episode."""
    return [int(one) for one in np.random.SeedSequence((seed, 0xE7A1)).generate_state(episodes)]


def _episode(agent: Agent, env: gym.Env[Any, Any], seed: int, before_step: Callable[[], None]) -> float:
    total = 0.0
    obs, _ = _of_env(agent, env.reset, seed=seed)
    for _ in range(LONGEST):
        before_step()
        seen = np.array(obs)
        require_finite(agent.base.env, seen, " in evaluation")
        action = agent.act(seen[None])[0]
        obs, reward, terminated, truncated, _ = _of_env(agent, env.step, action)
        total += float(reward)
        if not math.isfinite(total):
            raise EnvironmentFault(f"{agent.base.env} returned a reward that is not finite in evaluation.")
        if terminated or truncated:
            break
    return total


def _of_env(agent: Agent, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    try:
        return call(*args, **kwargs)
    except FAULTS as error:
        raise EnvironmentFault(
            f"{agent.base.env} raised {type(error).__name__} in evaluation: {in_a_line(error)}"
        ) from error
