"""Vector environments as agents see them: every transition with its true successor.

Gymnasium ≥ 1.1 knows three autoreset modes. NEXT_STEP spends a step on each reset, which must not be learned
from (`valid`). SAME_STEP resets at once and hides the last observation in `info`. DISABLED leaves the reset
to the caller.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from gradsan.rl.atari import SCORE
from gradsan.rl.errors import EnvironmentFault, in_a_line
from gradsan.rl.journal import native_snapshot, restore_native
from gradsan.rl.normalize import Scales

Array = NDArray[Any]
Flags = NDArray[np.bool_]
VectorEnv = gym.vector.VectorEnv[Any, Any, Any]
LARGEST = float(np.finfo(np.float32).max)
FAULTS = (Exception, SystemExit)  # what an environment may raise
LOOPED = (gym.vector.SyncVectorEnv, gym.vector.AsyncVectorEnv)


class EnvStep(NamedTuple):
    """One transition per environment; `next_obs` is where it led, even if the episode ended there."""

    next_obs: Array
    reward: NDArray[np.float32]
    terminated: Flags
    truncated: Flags
    valid: Flags

    def taken(self) -> int:
        """How many of these steps were really taken."""
        return int(np.count_nonzero(self.valid))


class Envs:
    """A vector environment with its episodes counted and its faults put into words."""

    def __init__(self, vector: VectorEnv) -> None:
        self.vector = vector
        self.num_envs = vector.num_envs
        self.name = vector.spec.id if vector.spec is not None else type(vector.unwrapped).__name__
        self.mode = AutoresetMode(vector.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP))
        self.obs: Array = np.zeros(0)
        self.scales: Scales | None = None
        self.finished: list[tuple[float, int]] = []
        self._ended = np.zeros(self.num_envs, dtype=bool)
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, dtype=np.int64)
        self._lost_a_worker = False
        self._everywhere = np.ones(self.num_envs, dtype=bool)
        self._one_each = np.ones(self.num_envs, dtype=np.int64)

    @property
    def running(self) -> Flags:
        """Where the next action counts; elsewhere it is spent on a reset."""
        return ~self._ended

    def normalize(self, discount: float) -> None:
        """From now on, `obs` and steps are scaled by their running statistics."""
        self.scales = Scales(self.obs, discount)
        self.obs = self.scales.obs(self.obs)

    def scaled(self, obs: Array) -> Array:
        """Observations from elsewhere, as the agent has learned to see them."""
        return obs if self.scales is None else self.scales.obs(obs)

    def reset(self, seed: int | None = None) -> None:
        self.obs = self.scaled(self._reset(seed=seed))
        self._ended[:] = False
        self._returns[:] = 0
        self._lengths[:] = 0

    def step(self, action: Array) -> EnvStep:
        try:
            obs, reward, terminated, truncated, info = self.vector.step(action)
        except FAULTS as error:
            raise self._raised(error) from error
        exact, reward = reward, as_single(reward)
        if not all(map(math.isfinite, reward.tolist())):
            raise EnvironmentFault(f"{self.name} returned a reward that is not finite: {reward.tolist()}.")
        # A copy: environments may reuse their observation buffer for the next step.
        next_obs = np.array(obs, order="C")
        require_finite(self.name, next_obs)
        self.obs = next_obs
        # Only NEXT_STEP leaves an end to be seen here: that copy has spent its step on a reset.
        valid = self.running if np.count_nonzero(self._ended) else self._everywhere
        ended = terminated | truncated
        earned: Any = info.get(SCORE, exact)
        self._count(earned, valid, ended)
        if self.mode is AutoresetMode.NEXT_STEP:
            self._ended = ended
        elif np.count_nonzero(ended):
            if self.mode is AutoresetMode.SAME_STEP:
                next_obs = next_obs.copy()
                next_obs[ended] = np.stack(list(info["final_obs"][ended]))
                require_finite(self.name, next_obs)
            else:
                self.obs = self._reset(options={"reset_mask": ended})
        if self.scales is not None:
            self.scales.observe(self.obs[self.running])
            self.obs, next_obs = self.scales.obs(self.obs), self.scales.obs(next_obs)
            reward = self.scales.reward(reward, ended, valid)
        return EnvStep(next_obs, reward, terminated, truncated, valid)

    def _reset(self, **arguments: Any) -> Array:
        try:
            obs, _ = self.vector.reset(**arguments)
        except FAULTS as error:
            raise self._raised(error) from error
        require_finite(self.name, obs)
        return np.array(obs, order="C")

    def _count(self, reward: Array, valid: Flags, ended: Flags) -> None:
        # Mostly all of them are valid: then nothing need be masked. Numbers of one type are added without a detour.
        earned = reward.astype(np.float64, copy=False)
        self._returns += earned if valid is self._everywhere else earned * valid
        self._lengths += self._one_each if valid is self._everywhere else valid
        if np.count_nonzero(ended):  # several times cheaper than any()
            for index in np.flatnonzero(ended):
                self.finished.append((float(self._returns[index]), int(self._lengths[index])))
            self._returns[ended] = 0
            self._lengths[ended] = 0

    def _raised(self, error: BaseException) -> EnvironmentFault:
        self._lost_a_worker = isinstance(error, EOFError | ConnectionError)
        return EnvironmentFault(f"{self.name} raised {type(error).__name__}: {in_a_line(error)}")

    def close(self) -> None:
        if not self._lost_a_worker:
            self.vector.close()
        elif isinstance(self.vector, gym.vector.AsyncVectorEnv):  # it would wait for an answer of the dead
            self.vector.closed = True
            for process in self.vector.processes:
                process.terminate()

    def state_dict(self) -> dict[str, Any]:
        inner = self.vector.unwrapped
        return {
            "inner": list(inner.call("snapshot")) if isinstance(inner, LOOPED) else native_snapshot(inner),
            "obs": torch.from_numpy(self.obs),
            "ended": torch.from_numpy(self._ended),
            "returns": torch.from_numpy(self._returns),
            "lengths": torch.from_numpy(self._lengths),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        inner = self.vector.unwrapped
        if isinstance(inner, LOOPED):
            inner.set_attr("snapshot", state["inner"])
        else:
            restore_native(inner, state["inner"])
        self.obs = state["obs"].numpy().copy()
        self._ended = state["ended"].numpy().copy()
        self._returns = state["returns"].numpy().copy()
        self._lengths = state["lengths"].numpy().copy()


def as_single(reward: Array) -> NDArray[np.float32]:
    """A copy in single precision: environments may reuse their array of rewards, too."""
    if reward.dtype == np.float32:
        return reward.copy()
    if max(map(abs, reward.tolist()), default=0.0) <= LARGEST:
        return reward.astype(np.float32)
    with np.errstate(
        over="ignore"
    ):  # what does not fit is infinite then, and said to be; this costs more than the rest
        return reward.astype(np.float32)


def require_finite(name: str, obs: Array, where: str = "") -> None:
    if obs.dtype.kind != "f":
        return
    # The sum of squares is finite only if every number is: cheaper than a flag per element.
    numbers = obs.ravel()
    if not math.isfinite(numbers.dot(numbers)) and not np.isfinite(obs).all():
        raise EnvironmentFault(f"{name} returned an observation that is not finite{where}.")
