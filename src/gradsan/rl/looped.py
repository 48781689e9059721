"""Copies of an environment that are stepped one after the other, their observations written into one array.

Gymnasium's own loop takes observations of every kind, and resets by itself; a step of a single copy spends more time
there than in the environment. Agents see arrays alone, and resets are theirs (`gradsan.rl.envs`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.vector.utils import concatenate
from numpy.typing import NDArray

Array = NDArray[Any]


class LoopedEnvs(SyncVectorEnv):
    """What a step returns may be overwritten by the next one: whoever keeps observations or rewards copies them."""

    def __init__(self, make: Sequence[Callable[[], gym.Env[Any, Any]]]) -> None:
        super().__init__(make, copy=False, autoreset_mode=AutoresetMode.DISABLED)

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """As Gymnasium's, where every copy was reset after it ended."""
        observations, infos, fit = self._observations, dict[str, Any](), True
        for i, (action, env) in enumerate(zip(actions, self.envs, strict=True)):
            obs, self._rewards[i], self._terminations[i], self._truncations[i], info = env.step(action)
            self._env_obs[i] = obs
            if fit := fit and _fits(obs, observations):
                observations[i] = obs
            if info:
                infos = self._add_info(infos, info, i)
        if not fit:  # what converts it, or says what is wrong
            concatenate(self.single_observation_space, self._env_obs, observations)
        return observations, self._rewards, self._terminations.copy(), self._truncations.copy(), infos


def _fits(obs: Any, rows: Array) -> bool:
    return type(obs) is np.ndarray and obs.dtype == rows.dtype and obs.shape == rows.shape[1:]
