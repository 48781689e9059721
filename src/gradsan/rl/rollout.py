"""On-policy data: T steps of N environments, and the advantages that follow from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gradsan.rl.envs import EnvStep
from gradsan.rl.losses import gae
from gradsan.rl.spaces import Observations

Array = NDArray[Any]
ValueOf = Callable[[Array], NDArray[np.float32]]  # of observations [T, N, …]


class Samples(NamedTuple):
    """The valid steps of a rollout, flattened; all constants."""

    obs: Tensor
    action: Tensor
    value: Tensor
    advantage: Tensor
    returns: Tensor


class Rollout:
    """Filled step by step, then turned into samples; reused for the next rollout."""

    def __init__(self, length: int, num_envs: int, observations: Observations, action: Array) -> None:
        self.length, self.num_envs = length, num_envs
        self._obs = np.zeros((length + 1, num_envs, *observations.shape), observations.dtype)
        self._action = np.zeros((length, num_envs, *action.shape), action.dtype)
        self._reward = np.zeros((length, num_envs), np.float32)
        self._terminated, self._truncated, self.valid = np.zeros((3, length, num_envs), np.bool_)
        self._last: list[tuple[int, int, Array]] = []
        self._t = 0

    def add(self, obs: Array, action: Array, step: EnvStep, following: Array) -> None:
        """`following` is what the agent sees next: after an end, the first observation of a new episode."""
        if self._t == self.length:
            self._t, self._last = 0, []
        t = self._t
        self._obs[t], self._action[t], self._reward[t] = obs, action, step.reward
        self._terminated[t], self._truncated[t], self.valid[t] = step.terminated, step.truncated, step.valid
        self._obs[t + 1] = following
        if np.count_nonzero(step.truncated):
            # The state that a truncated episode was cut at is what its bootstrap needs.
            cut = np.flatnonzero(step.truncated & ~step.terminated)
            self._last += [(t, int(index), step.next_obs[index]) for index in cut]
        self._t = t + 1

    def samples(self, value_of: ValueOf, discount: float, trace: float, device: torch.device) -> Samples:
        """All steps that were really taken, flattened."""
        fields = self.fields(value_of, discount, trace)
        keep = slice(None) if self.valid.all() else np.flatnonzero(self.valid)
        # `.copy()`: the arrays are overwritten by the next rollout while samples may still be referenced.
        flat = (field.reshape(-1, *field.shape[2:])[keep].copy() for field in fields)
        return Samples(*(torch.from_numpy(field).to(device) for field in flat))

    def fields(self, value_of: ValueOf, discount: float, trace: float) -> tuple[Array, ...]:
        """What samples are made of, each [T, N, …]: values of all states in one batch, and GAE over them."""
        assert self._t == self.length, "the rollout is not full"
        values = value_of(self._obs)
        next_value = values[1:].copy()
        if self._last:
            self._bootstrap(next_value, value_of)
        flags = (self._terminated, self._truncated)
        advantage = gae(self._reward, values[:-1], next_value, *flags, discount, trace)
        return self._obs[:-1], self._action, values[:-1], advantage, advantage + values[:-1]

    def _bootstrap(self, next_value: NDArray[np.float32], value_of: ValueOf) -> None:
        """Where an episode was cut, the value of the state that it was cut at."""
        count = np.zeros(self.num_envs, np.int64)  # of each environment, which has its place in every batch
        places = []
        for t, env, _ in self._last:
            places.append((count[env], env, t))
            count[env] += 1
        cut = np.zeros((count.max(), *self._obs.shape[1:]), self._obs.dtype)
        for (row, env, _), (_, _, obs) in zip(places, self._last, strict=True):
            cut[row, env] = obs
        value = value_of(cut)
        for row, env, t in places:
            next_value[t, env] = value[row, env]

    @property
    def valid_steps(self) -> int:
        return int(np.count_nonzero(self.valid))
