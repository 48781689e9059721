"""What an agent needs to know of the spaces, and how its actions become the environment's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from gradsan.rl.errors import EnvironmentFault

Array = NDArray[Any]
NEEDS = {"any": "Discrete, MultiDiscrete or Box", "discrete": "Discrete", "continuous": "Box"}
# Who takes the actions that an algorithm cannot take.
ADVICE = {
    ("discrete", "Box"): "ppo, sac or td3",
    ("discrete", "MultiDiscrete"): "ppo or a2c",
    ("continuous", "Discrete"): "ppo, a2c or dqn",
    ("continuous", "MultiDiscrete"): "ppo or a2c",
}


@dataclass(frozen=True)
class Observations:
    """Flat vectors or images; `shape` is that of one observation."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def image(self) -> bool:
        return len(self.shape) == 3

    @property
    def frames(self) -> int:
        """How many pictures an image may be a stack of: its channels, where they come first."""
        return self.shape[0] if self.image and self.shape[0] < self.shape[-1] else 1

    @classmethod
    def of(cls, space: gym.Space[Any]) -> Observations:
        if not isinstance(space, spaces.Box) or len(space.shape) not in (1, 3) or 0 in space.shape:
            raise EnvironmentFault(
                f"Unsupported observation space {space}: agents take images (Box of three dimensions) and what "
                "makes a vector of fixed length (other Box, Discrete, MultiDiscrete, MultiBinary, and Dict or "
                "Tuple of these); wrap others in gymnasium.wrappers.FlattenObservation."
            )
        keep = len(space.shape) == 3 and space.dtype == np.uint8
        return cls(space.shape, np.dtype(np.uint8 if keep else np.float32))


@dataclass(frozen=True)
class Actions:
    """Discrete choices, or vectors between bounds. Agents see choices from 0, and flat vectors."""

    space: spaces.Discrete | spaces.MultiDiscrete | spaces.Box

    @property
    def choices(self) -> tuple[int, ...]:
        """Alternatives of each choice that is made at once; none where actions are vectors."""
        if isinstance(self.space, spaces.Discrete):
            return (int(self.space.n),)
        if isinstance(self.space, spaces.MultiDiscrete):
            return tuple(int(count) for count in self.space.nvec.ravel())
        return ()

    @property
    def several(self) -> bool:
        """Whether an action is a vector of choices."""
        return isinstance(self.space, spaces.MultiDiscrete)

    @property
    def size(self) -> int:
        """Number of alternatives, over all choices, or of dimensions."""
        return int(np.prod(self.space.shape)) if isinstance(self.space, spaces.Box) else sum(self.choices)

    @classmethod
    def of(cls, space: gym.Space[Any], *, need: str = "any") -> Actions:
        if isinstance(space, spaces.Discrete) and need != "continuous":
            return cls(space)
        if isinstance(space, spaces.MultiDiscrete) and need == "any":
            return cls(space)
        if isinstance(space, spaces.Box) and need != "discrete" and 0 not in space.shape:
            return cls(space)
        kind = type(space).__name__
        others = ADVICE.get((need, kind))
        advice = f"; for {kind}, try {others}" if others else ""
        raise EnvironmentFault(
            f"Unsupported action space {space}: this algorithm needs {NEEDS[need]} actions{advice}."
        )

    def from_unit(self, action: Array) -> Array:
        """[-1, 1] per dimension onto the bounds."""
        assert isinstance(self.space, spaces.Box)
        low, high = self.space.low, self.space.high
        unit = action.reshape(-1, *self.space.shape)
        return self._inside(low + 0.5 * (unit + 1) * (high - low))

    def to_env(self, action: Array) -> Array:
        """Choices from the space's own start; vectors clipped to the bounds."""
        if isinstance(self.space, spaces.Discrete):
            return action + self.space.start if self.space.start else action
        if isinstance(self.space, spaces.MultiDiscrete):
            own: Array = action.reshape(-1, *self.space.shape) + self.space.start
            return own.astype(self.space.dtype, copy=False)
        return self._inside(action.reshape(-1, *self.space.shape))

    def _inside(self, action: Array) -> Array:
        """Within the bounds, which rounding may have left; the nearest whole numbers where there are no others."""
        assert isinstance(self.space, spaces.Box)
        clipped = action.clip(self.space.low, self.space.high)
        if np.issubdtype(self.space.dtype, np.integer):
            clipped = np.rint(clipped)
        return clipped.astype(self.space.dtype, copy=False)


def seen_and_done(
    observed: gym.Space[Any], taken: gym.Space[Any], need: str = "any"
) -> tuple[Observations, Actions]:
    """Spaces as an agent takes them, or a sentence about why it cannot."""
    observations, actions = Observations.of(observed), Actions.of(taken, need=need)
    if need == "continuous":
        _require_vector_control(observations, taken)
    return observations, actions


def _require_vector_control(observations: Observations, taken: gym.Space[Any]) -> None:
    """What SAC and TD3 can do: vectors are seen, and actions lie between bounds that `tanh` maps onto."""
    if observations.image:
        raise EnvironmentFault("SAC and TD3 take vector observations; for images, try ppo or dqn.")
    with np.errstate(over="ignore"):  # the largest number there is stands for "no bound" in some environments
        bounded = isinstance(taken, spaces.Box) and np.isfinite(taken.high - taken.low).all()
    if not bounded:
        raise EnvironmentFault(f"Unsupported action space {taken}: its bounds must be finite.")
