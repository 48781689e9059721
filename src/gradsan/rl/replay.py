"""Replay: a preallocated ring of transitions, with n-step returns that stop where episodes stop."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gradsan.rl.envs import EnvStep
from gradsan.rl.errors import ConfigError
from gradsan.rl.frames import NOWHERE, Frames
from gradsan.rl.spaces import Observations

Array = NDArray[Any]
IMAGES = ("obs", "next_obs")  # fields that hold places of frames where observations are images


class Batch(NamedTuple):
    """`next_obs` is where the transition led; `discount` is γⁿ for the n steps that it spans."""

    obs: Tensor
    action: Tensor
    reward: Tensor
    next_obs: Tensor
    terminated: Tensor
    discount: Tensor


class Replay:
    """The newest `capacity` transitions. Truncated ones bootstrap: only `terminated` is stored."""

    def __init__(
        self, capacity: int, observations: Observations, action: Array, discount: float, n_step: int = 1
    ) -> None:
        """`action` is an example of one action, for its shape and dtype."""
        if capacity < 1 or n_step < 1:
            raise ConfigError(
                f"Replay needs a capacity and n_step of at least 1, got {capacity} and {n_step}."
            )
        self.capacity, self.discount, self.n_step = capacity, discount, n_step
        self.size = 0
        self._next = 0
        self.frames: Frames | None = None
        try:
            self._ring: dict[str, Array] = {
                "obs": np.zeros((capacity, *observations.shape), observations.dtype),
                "action": np.zeros((capacity, *action.shape), action.dtype),
                "reward": np.zeros(capacity, np.float32),
                "next_obs": np.zeros((capacity, *observations.shape), observations.dtype),
                "terminated": np.zeros(capacity, np.bool_),
                "discount": np.zeros(capacity, np.float32),
            }
            if observations.image:  # kept elsewhere: what the ring holds is their places
                self.frames = Frames(observations, room=capacity + capacity // 8 + 64)
                for name in IMAGES:
                    self._ring[name] = np.full((capacity, observations.frames), NOWHERE)
        except (MemoryError, ValueError) as error:
            raise ConfigError(f"A replay of {capacity:,} transitions does not fit into memory.") from error
        self._pending: dict[int, list[tuple[Array, Array, float]]] = {}

    def add(self, obs: Array, action: Array, step: EnvStep) -> None:
        """One step of all environments; steps that were spent on a reset are left out."""
        if self.n_step == 1 and self.frames is None:
            count = step.taken()
            if count == len(obs):
                self._write(count, obs, action, step.reward, step.next_obs, step.terminated, self.discount)
            else:
                keep = step.valid
                chosen = (
                    obs[keep],
                    action[keep],
                    step.reward[keep],
                    step.next_obs[keep],
                    step.terminated[keep],
                )
                self._write(count, *chosen, self.discount)
            return
        for index in np.flatnonzero(step.valid):
            self._add_n_step(int(index), obs, action, step)

    def _add_n_step(self, index: int, obs: Array, action: Array, step: EnvStep) -> None:
        pending = self._pending.setdefault(index, [])
        seen, reached = obs[index].copy(), step.next_obs[index]
        if self.frames is not None:
            seen = self.frames.places(index, seen)
            self.frames.hold(seen)  # while it is pending; what was reached is held as the latest
            reached = self.frames.places(index, reached)
        pending.append((seen, action[index].copy(), float(step.reward[index])))
        ended = step.terminated[index] or step.truncated[index]
        while pending and (ended or len(pending) >= self.n_step):
            total = sum(self.discount**k * reward for k, (_, _, reward) in enumerate(pending))
            reach = self.discount ** len(pending)
            start, taken, _ = pending.pop(0)
            self._write(1, start, taken, total, reached, step.terminated[index], reach)
            if self.frames is not None:
                self.frames.release(start)

    def _write(self, count: int, *values: Any) -> None:
        # A slice where the ring does not wrap: several times cheaper than an index array.
        end = self._next + count
        at: slice | Array = (
            slice(self._next, end) if end <= self.capacity else np.arange(self._next, end) % self.capacity
        )
        left = [self._ring[name][at].copy() for name in IMAGES] if self.frames is not None else []
        for field, value in zip(self._ring.values(), values, strict=True):
            field[at] = value
        if self.frames is not None:  # first hold, then release: what is in both must not be lost in between
            for name in IMAGES:
                self.frames.hold(self._ring[name][at])
            for places in left:
                self.frames.release(places)
        self._next = end % self.capacity
        self.size = min(self.size + count, self.capacity)

    def sample(self, size: int, rng: np.random.Generator, device: torch.device) -> Batch:
        """Uniform, with replacement, as copies: later writes to the ring do not reach a batch in use."""
        index = rng.integers(self.size, size=size)
        chosen = {name: field.take(index, axis=0) for name, field in self._ring.items()}
        if self.frames is not None:
            chosen |= {name: self.frames.take(chosen[name]) for name in IMAGES}
        return Batch(*(torch.from_numpy(field).to(device) for field in chosen.values()))

    def state_dict(self) -> dict[str, Any]:
        pending = {
            index: [
                (torch.from_numpy(obs), torch.from_numpy(np.array(action)), reward)
                for obs, action, reward in steps
            ]
            for index, steps in self._pending.items()
        }
        filled = {name: torch.from_numpy(field[: self.size]) for name, field in self._ring.items()}
        frames = {} if self.frames is None else {"frames": self.frames.state_dict()}
        return {"ring": filled, "next": self._next, "pending": pending, **frames}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.size = len(state["ring"]["reward"])
        if self.size > self.capacity:
            raise ConfigError(f"The saved replay holds {self.size} transitions, more than {self.capacity}.")
        self._next = state["next"] % self.capacity
        oldest = 0
        if self.size < self.capacity and state["next"] != self.size:  # a full ring goes on in a larger one
            self._next, oldest = self.size, state["next"]
        for name, field in state["ring"].items():
            self._ring[name][: self.size] = np.roll(field.numpy(), -oldest, axis=0)
        self._pending = {
            index: [(obs.numpy(), action.numpy(), reward) for obs, action, reward in steps]
            for index, steps in state["pending"].items()
        }
        if self.frames is not None:
            waiting = [obs for steps in self._pending.values() for obs, _, _ in steps]
            held = [self._ring[name][: self.size] for name in IMAGES] + waiting
            self.frames.load_state_dict(state["frames"], held)
