"""Evaluation apart from training: an environment of its own, seeds of its own, the greedy policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from gradsan.rl.agent import Agent
from gradsan.rl.errors import EnvironmentFault

# Episodes of environments without a time limit end here.
LONGEST = 100_000


def evaluate(
    agent: Agent,
    env: gym.Env[Any, Any],
    episodes: int,
    seed: int,
    watch: Callable[[gym.Env[Any, Any]], None] | None = None,
) -> NDArray[np.float64]:
    """Return of each episode. The same seed gives the same episodes, so evaluations can be compared."""
    return np.array([_episode(agent, env, one, watch) for one in episode_seeds(seed, episodes)])


def episode_seeds(seed: int, episodes: int) -> list[int]:
    """What the environment is reset with for each episode."""
    return [int(one) for one in np.random.SeedSequence((seed, 0xE7A1)).generate_state(episodes)]


def _episode(
    agent: Agent, env: gym.Env[Any, Any], seed: int, watch: Callable[[gym.Env[Any, Any]], None] | None
) -> float:
    total = 0.0
    try:
        obs, _ = env.reset(seed=seed)
        for _ in range(LONGEST):
            if watch is not None:
                watch(env)
            obs, reward, terminated, truncated, _ = env.step(agent.act(np.array(obs)[None])[0])
            total += float(reward)
            if terminated or truncated:
                break
    except Exception as error:
        raise EnvironmentFault(
            f"{agent.base.env} raised {type(error).__name__} in evaluation: {error}"
        ) from error
    return total
