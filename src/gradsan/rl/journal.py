"""Environment state as plain data, so that a resumed run continues in the middle of an episode.

Environments offer no general way to save themselves. But one that draws all its chance from `np_random` is
described in full by the random state before its last reset and the actions since: resetting and replaying
them gives the same state, whatever engine runs inside.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
import torch

from gradsan.rl.atari import emulator_state, restore_emulator

PLAIN = (bool, int, float, str, np.ndarray, np.generic, type(None))
# Descriptions of the environment, which are built again, not restored.
DESCRIPTIVE = {"spec", "metadata", "render_mode", "closed", "_np_random", "_np_random_seed"}


class Journal(gym.Wrapper[Any, Any, Any, Any]):
    """Records what is needed to bring the wrapped environment back to where it is now."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        self._seed: int | None = None
        self._random: Mapping[str, Any] | None = None
        self._emulator: torch.Tensor | None = None
        self._actions: list[Any] = []
        self._latest: Any = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        self._seed = seed
        self._random = None if seed is not None else self.unwrapped.np_random.bit_generator.state
        self._emulator = None if seed is not None else emulator_state(self.unwrapped)
        self._actions = []
        self._latest, info = self.env.reset(seed=seed, options=options)
        return self._latest, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        self._actions.append(action)
        result = self.env.step(action)
        self._latest = result[0]
        return result

    @property
    def snapshot(self) -> dict[str, Any]:
        actions = torch.from_numpy(np.array(self._actions)) if self._actions else None
        latest = torch.from_numpy(np.array(self._latest))
        chance = {"seed": self._seed, "random": self._random, "emulator": self._emulator}
        return {**chance, "actions": actions, "latest": latest}

    @snapshot.setter
    def snapshot(self, saved: dict[str, Any]) -> None:
        if saved["random"] is not None:
            self.unwrapped.np_random.bit_generator.state = saved["random"]
        if saved.get("emulator") is not None:
            restore_emulator(self.unwrapped, saved["emulator"])
        self.reset(seed=saved["seed"])
        self._random, self._emulator = saved["random"], saved.get("emulator")
        for action in saved["actions"].numpy() if saved["actions"] is not None else ():
            self.step(action)
        if not np.array_equal(self._latest, saved["latest"].numpy(), equal_nan=True):
            warnings.warn(
                "The environment did not replay to the state it was saved in (it draws chance from elsewhere "
                "than np_random): training continues, but not bit for bit as without the interruption."
            )


def native_snapshot(env: gym.vector.VectorEnv[Any, Any, Any]) -> dict[str, Any]:
    """State of a vector environment that steps all its copies at once, as arrays: its plain attributes."""
    state = {
        name: torch.from_numpy(np.array(value)) if isinstance(value, np.ndarray | np.generic) else value
        for name, value in vars(env).items()
        if name not in DESCRIPTIVE and isinstance(value, PLAIN)
    }
    return {"attributes": state, "random": env.np_random.bit_generator.state}


def restore_native(env: gym.vector.VectorEnv[Any, Any, Any], saved: dict[str, Any]) -> None:
    for name, value in saved["attributes"].items():
        setattr(env, name, value.numpy().copy() if isinstance(value, torch.Tensor) else value)
    env.np_random.bit_generator.state = saved["random"]
