"""Making environments by id, for training (many) and for evaluation (one)."""

from __future__ import annotations

import os
import signal
from typing import Any

import gymnasium as gym
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, AutoresetMode

from gradsan.rl import atari
from gradsan.rl.envs import Envs
from gradsan.rl.errors import EnvironmentFault, in_a_line
from gradsan.rl.journal import Journal
from gradsan.rl.looped import LoopedEnvs

# Gymnasium's array-at-once CartPole overtakes a loop over copies from about four of them.
NATIVE_FROM = 4


def make_env(
    env_id: str, render_mode: str | None = None, max_episode_steps: int | None = None
) -> gym.Env[Any, Any]:
    """One environment, whose observations are vectors or images; its own time limit by default."""
    atari.register(env_id)
    try:
        # Named only when asked for: an environment need not take a render mode.
        render: dict[str, Any] = {} if render_mode is None else {"render_mode": render_mode}
        env = gym.make(
            env_id, max_episode_steps, disable_env_checker=True, **render, **atari.arguments(env_id)
        )
        env = atari.preprocessed(env)
    except gym.error.Error as error:
        raise _cannot_make(env_id, error) from error
    except ImportError as error:
        raise EnvironmentFault(
            f"{env_id} needs a package that is not installed: {in_a_line(error)}"
        ) from error
    except Exception as error:
        raise EnvironmentFault(
            f"{env_id} raised {type(error).__name__} when made: {in_a_line(error)}"
        ) from error
    return gym.wrappers.FlattenObservation(env) if _to_be_flattened(env.observation_space) else env


def make_envs(env_id: str, num_envs: int = 1, vectorization: str = "auto") -> Envs:
    """`auto` takes Gymnasium's native vector environment where it has one of its own and it pays."""
    if vectorization == "native" or (
        vectorization == "auto" and num_envs >= NATIVE_FROM and _has_native(env_id)
    ):
        if atari.is_game(env_id):
            raise EnvironmentFault(
                f"{env_id}: native copies of a game cannot be saved; give --vectorization sync or async."
            )
        try:
            return Envs(gym.make_vec(env_id, num_envs, vectorization_mode="vector_entry_point"))
        except gym.error.Error as error:
            raise _cannot_make(env_id, error) from error
    make_env(env_id).close()  # so that a fault is reported once and from here, not from a worker process

    here = os.getpid()

    def make() -> gym.Env[Any, Any]:
        if os.getpid() != here:  # Ctrl-C reaches every process of a terminal; it is the trainer who stops
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        return Journal(atari.to_learn_from(make_env(env_id)))

    # Resets are ours: no step is spent on them, and no state hides inside the vector environment.
    copies = [make] * num_envs
    if vectorization == "async":
        envs = Envs(AsyncVectorEnv(copies, autoreset_mode=AutoresetMode.DISABLED))
    else:
        envs = Envs(LoopedEnvs(copies))
    envs.name = env_id
    return envs


def _to_be_flattened(space: gym.Space[Any]) -> bool:
    """What becomes one vector: numbers one-hot, the parts of a Dict or Tuple one after another. Not where an image is
    among them: nobody would recognise it."""
    if isinstance(space, spaces.Box):
        return len(space.shape) not in (1, 3)
    parts = space.spaces if isinstance(space, spaces.Tuple) else ()
    parts = tuple(space.spaces.values()) if isinstance(space, spaces.Dict) else parts
    if any(isinstance(part, spaces.Box) and len(part.shape) == 3 for part in parts):
        return False
    return space.is_np_flattenable


def _has_native(env_id: str) -> bool:
    spec = gym.registry.get(env_id)
    # Others (JAX) keep state that cannot be saved as plain arrays.
    return spec is not None and str(spec.vector_entry_point).startswith("gymnasium.envs.classic_control")


def _cannot_make(env_id: str, error: Exception) -> EnvironmentFault:
    return EnvironmentFault(f"Cannot make environment {env_id!r}: {in_a_line(error)}")
