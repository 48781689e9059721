"""Running statistics, for algorithms that want observations or rewards of unit scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Array = NDArray[Any]


class RunningNorm:
    """Mean and variance over everything seen so far, merged batch by batch (Chan et al. 1979)."""

    def __init__(self, shape: tuple[int, ...], clip: float = 10.0) -> None:
        self.mean = np.zeros(shape)
        self.var = np.ones(shape)
        self.count = 1e-4
        self.clip = clip

    def update(self, batch: Array) -> None:
        size = len(batch)
        if not size:
            return
        shift = batch.mean(axis=0) - self.mean
        total = self.count + size
        spread = self.var * self.count + batch.var(axis=0) * size + shift**2 * self.count * size / total
        self.mean = self.mean + shift * size / total
        self.var = spread / total
        self.count = total

    def __call__(self, batch: Array) -> NDArray[np.float32]:
        scaled = (batch - self.mean) / np.sqrt(self.var + 1e-8)
        return np.clip(scaled, -self.clip, self.clip).astype(np.float32)

    def state_dict(self) -> dict[str, Any]:
        mean, var = (torch.from_numpy(np.asarray(value)) for value in (self.mean, self.var))
        return {"mean": mean, "var": var, "count": self.count}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.mean, self.var = state["mean"].numpy().copy(), state["var"].numpy().copy()
        self.count = state["count"]


class RewardScale:
    """Divides rewards by the running deviation of the discounted return; the sign is left alone."""

    def __init__(self, num_envs: int, discount: float, clip: float = 10.0) -> None:
        self._norm = RunningNorm(())
        self._returns = np.zeros(num_envs)
        self._discount, self._clip = discount, clip

    def __call__(self, reward: Array, ended: Array, valid: Array) -> NDArray[np.float32]:
        self._returns = self._returns * self._discount + reward
        self._norm.update(self._returns[valid])
        self._returns[ended] = 0
        return np.clip(reward / np.sqrt(self._norm.var + 1e-8), -self._clip, self._clip).astype(np.float32)

    def state_dict(self) -> dict[str, Any]:
        return {"norm": self._norm.state_dict(), "returns": torch.from_numpy(self._returns)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._norm.load_state_dict(state["norm"])
        self._returns = state["returns"].numpy().copy()


class Scales:
    """What the agent sees of an environment at unit scale. Images stay as they are."""

    def __init__(self, first: Array, discount: float) -> None:
        """`first` are the observations that every copy starts with."""
        self._obs = RunningNorm(first.shape[1:]) if first.ndim == 2 else None
        self._reward = RewardScale(len(first), discount)
        if self._obs is not None:
            self._obs.update(first)

    def obs(self, obs: Array) -> Array:
        return obs if self._obs is None else self._obs(obs)

    def reward(self, reward: Array, ended: Array, valid: Array) -> NDArray[np.float32]:
        return self._reward(reward, ended, valid)

    def observe(self, obs: Array) -> None:
        """What counts is what the agent acts on next: after an end, the first observation of a new episode."""
        if self._obs is not None:
            self._obs.update(obs)

    def state_dict(self) -> dict[str, Any]:
        obs = {} if self._obs is None else {"obs": self._obs.state_dict()}
        return {"reward": self._reward.state_dict(), **obs}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._reward.load_state_dict(state["reward"])
        if self._obs is not None:
            self._obs.load_state_dict(state["obs"])
