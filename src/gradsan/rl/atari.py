"""Atari games as the field plays them: four frames per action, grey, 84 × 84, four pictures at a time.

Mnih et al. (2015), with the sticky actions and whole games of Machado et al. (2018).
"""

from __future__ import annotations

import functools
import importlib.util
from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
import torch

from gradsan.rl.errors import EnvironmentFault

NAMESPACE = "ALE/"
SCORE = "unclipped_reward"
STACK = 4


def is_game(env_id: str) -> bool:
    return env_id.rpartition(":")[2].startswith(NAMESPACE)


def register(env_id: str) -> None:
    """Gymnasium knows the games once their package has registered them."""
    if not is_game(env_id):
        return
    missing = [name for name in ("ale_py", "cv2") if importlib.util.find_spec(name) is None]
    if missing:
        raise EnvironmentFault(f"{env_id} needs {' and '.join(missing)}: pip install 'gradsan[atari]'.")
    _register_all()


@functools.cache
def _register_all() -> None:
    import ale_py

    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)  # no banner for each copy
    gym.register_envs(ale_py)


def arguments(env_id: str) -> dict[str, Any]:
    """For making a game: the wrapper repeats actions itself, and colours would be thrown away."""
    return {"frameskip": 1, "obs_type": "grayscale"} if is_game(env_id) else {}


def preprocessed(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    """What an agent sees of a game; any other environment as it is."""
    if not hasattr(env.unwrapped, "ale"):
        return env
    return gym.wrappers.FrameStackObservation(gym.wrappers.AtariPreprocessing(env), STACK)


class ClippedReward(gym.Wrapper[Any, Any, Any, Any]):
    """Rewards of every game on one scale, to learn from; scores are still counted by the real ones."""

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self.env.step(action)
        score = float(reward)
        return obs, float(np.sign(score)), terminated, truncated, {**info, SCORE: score}


def to_learn_from(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    return ClippedReward(env) if hasattr(env.unwrapped, "ale") else env


def emulator_state(env: gym.Env[Any, Any]) -> torch.Tensor | None:
    """The emulator draws chance of its own, apart from `np_random`: this is its state, as bytes."""
    if not hasattr(env, "clone_state"):
        return None
    return torch.frombuffer(bytearray(env.clone_state(include_rng=True).__getstate__()), dtype=torch.uint8)


def restore_emulator(env: gym.Env[Any, Any], saved: torch.Tensor) -> None:
    import ale_py

    state: Any = ale_py.ALEState.__new__(ale_py.ALEState)
    state.__setstate__(saved.numpy().tobytes())
    env.restore_state(state)  # type: ignore[attr-defined]
