"""Returns and advantages of a rollout, in NumPy: a backward recursion over time is slow as tensor operations.

All arrays are [T, N], time first. `next_value[t]` is the value of the state that step t really led to: where
the episode ended there, that is its last state, not the first one of the next episode.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from gradsan.rl.errors import ShapeError
from gradsan.rl.losses._check import constant

Floats = NDArray[np.floating]
Flags = NDArray[np.bool_]


def gae(
    reward: Floats,
    value: Floats,
    next_value: Floats,
    terminated: Flags,
    truncated: Flags,
    discount: float,
    trace: float,
) -> NDArray[np.float32]:
    """Generalised advantage estimation (Schulman et al. 2016): Σ (γλ)ᵏ δₜ₊ₖ, δ = r + γV(s') − V(s).

    Termination drops γV(s'); truncation keeps it; both stop the sum.
    """
    _same_shape("gae", reward, value, next_value, terminated, truncated)
    delta = reward + discount * np.where(terminated, 0, next_value) - value
    carry = np.where(terminated | truncated, 0, discount * trace)
    advantage = np.empty(reward.shape, dtype=np.float32)
    running = np.zeros(reward.shape[1:])
    for t in range(len(reward) - 1, -1, -1):
        running = delta[t] + carry[t] * running
        advantage[t] = running
    return advantage


def n_step_returns(
    reward: Floats, next_value: Floats, terminated: Flags, truncated: Flags, discount: float
) -> NDArray[np.float32]:
    """Discounted rewards to the end of the episode or rollout, plus the value of the state reached there.

    As A2C takes them (Mnih et al. 2016).
    """
    _same_shape("n_step_returns", reward, next_value, terminated, truncated)
    tail = np.where(terminated, 0, next_value)
    ends = terminated | truncated
    returns = np.empty(reward.shape, dtype=np.float32)
    running = tail[-1]
    for t in range(len(reward) - 1, -1, -1):
        running = reward[t] + discount * np.where(ends[t], tail[t], running)
        returns[t] = running
    return returns


def _same_shape(function: str, *arrays: NDArray[np.generic]) -> None:
    for array in arrays:
        if isinstance(array, Tensor):
            constant(function, value=array)
        if not isinstance(array, np.ndarray):
            raise ShapeError(f"{function}: takes NumPy arrays, not {type(array).__name__}.")
    found = [list(array.shape) for array in arrays]
    if any(shape != found[0] for shape in found) or len(found[0]) != 2 or not found[0][0]:
        raise ShapeError(f"{function}: all arrays must have one shape [T, N] with T ≥ 1, got {found}.")
