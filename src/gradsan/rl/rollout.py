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
ValueOf = Callable[[Array], NDArray[np.float32]]


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
        self._dtype = observations.dtype
        self._obs = np.zeros((length + 1, num_envs, *observations.shape), observations.dtype)
        self._action = np.zeros((length, num_envs, *action.shape), action.dtype)
        self._reward = np.zeros((length, num_envs), np.float32)
        self._terminated, self._truncated, self._valid = np.zeros((3, length, num_envs), np.bool_)
        self._last: list[tuple[int, int, Array]] = []
        self._t = 0

    def add(self, obs: Array, action: Array, step: EnvStep, following: Array) -> None:
        """`following` is what the agent sees next: after an end, the first observation of a new episode."""
        if self._t == self.length:
            self._t, self._last = 0, []
        t = self._t
        self._obs[t], self._action[t], self._reward[t] = obs, action, step.reward
        self._terminated[t], self._truncated[t], self._valid[t] = step.terminated, step.truncated, step.valid
        self._obs[t + 1] = following
        if np.count_nonzero(step.truncated):
            # The state that a truncated episode was cut at is what its bootstrap needs.
            cut = np.flatnonzero(step.truncated & ~step.terminated)
            self._last += [(t, int(index), step.next_obs[index]) for index in cut]
        self._t = t + 1

    def samples(
        self,
        value_of: ValueOf,
        discount: float,
        trace: float,
        device: torch.device,
    ) -> Samples:
        """Values of all states in one batch, GAE over them, and only the steps that were really taken. May be asked
        again with other values, until the next rollout begins."""
        assert self._t == self.length, "the rollout is not full"
        flat = self._obs.reshape(-1, *self._obs.shape[2:])
        values = value_of(flat).reshape(self.length + 1, self.num_envs)
        next_value = values[1:].copy()
        if self._last:
            at = value_of(np.stack([obs for _, _, obs in self._last]).astype(self._dtype, copy=False))
            for (t, index, _), value in zip(self._last, at, strict=True):
                next_value[t, index] = value
        flags = (self._terminated, self._truncated)
        advantage = gae(self._reward, values[:-1], next_value, *flags, discount, trace)
        fields = (self._obs[:-1], self._action, values[:-1], advantage, advantage + values[:-1])
        keep = slice(None) if self._valid.all() else np.flatnonzero(self._valid)
        # `.copy()`: the arrays are overwritten by the next rollout while samples may still be referenced.
        return Samples(*(torch.from_numpy(_flat(field)[keep].copy()).to(device) for field in fields))

    @property
    def valid_steps(self) -> int:
        return int(np.count_nonzero(self._valid))


def _flat(field: Array) -> Array:
    return field.reshape(-1, *field.shape[2:])
