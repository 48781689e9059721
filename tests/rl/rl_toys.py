"""Environments small enough to know everything about, registered under `toys/…`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

Obs = np.ndarray[Any, np.dtype[Any]]


class Toy(gym.Env[Any, Any]):
    """Observation from `self.see()`; subclasses say what an action earns and when the episode ends."""

    observation_space: spaces.Space[Any] = spaces.Box(-1, 1, (3,), np.float32)
    action_space: spaces.Space[Any] = spaces.Discrete(3)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.time = 0
        self.draw()
        return self.see(), {}

    def draw(self) -> None:
        self.hidden = int(self.np_random.integers(3))

    def see(self) -> Any:
        return np.eye(3, dtype=np.float32)[self.hidden]

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.time += 1
        reward = self.earn(action)
        self.draw()
        return self.see(), reward, False, self.time >= 8, {}

    def earn(self, action: Any) -> float:
        return float(action == self.hidden)


class Identity(Toy):
    """Name what you see: 8 steps of up to 1 each."""


class DiscreteIdentity(Toy):
    """The same, with a number to see and choices that start at 5."""

    observation_space = spaces.Discrete(3)
    action_space = spaces.Discrete(3, start=5)

    def see(self) -> Any:
        return self.hidden

    def earn(self, action: Any) -> float:
        return float(action - 5 == self.hidden)


class Bandit(Toy):
    """One arm of three pays."""

    def see(self) -> Any:
        return np.zeros(3, dtype=np.float32)

    def earn(self, action: Any) -> float:
        return float(action == 1)


class Reach(Toy):
    """Hit the number you see, in one step: 0 at best. Bounds are uneven on purpose."""

    observation_space = spaces.Box(-1, 1, (1,), np.float32)
    action_space = spaces.Box(np.array([-1], np.float32), np.array([3], np.float32))

    def draw(self) -> None:
        self.goal = self.np_random.uniform(-0.9, 0.9)

    def see(self) -> Any:
        return np.array([self.goal], np.float32)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self.see(), -float((action[0] - 1 - self.goal) ** 2), True, False, {}


class Halves(Toy):
    """An image whose bright half is to be named."""

    observation_space = spaces.Box(0, 255, (36, 36, 1), np.uint8)
    action_space = spaces.Discrete(2)

    def draw(self) -> None:
        self.hidden = int(self.np_random.integers(2))

    def see(self) -> Any:
        image = np.zeros((36, 36, 1), np.uint8)
        image[:, 18 * self.hidden : 18 * (self.hidden + 1)] = 255
        return image


class Mirrored(Halves):
    """The same through a view that runs backwards."""

    def see(self) -> Any:
        return super().see()[:, ::-1]


class Memory(Toy):
    """What to name stands in the bytes of a small memory."""

    observation_space = spaces.Box(0, 255, (8,), np.uint8)

    def see(self) -> Any:
        return np.repeat(np.eye(4, dtype=np.uint8)[self.hidden], 2)


class Far(Toy):
    """One step per episode. What there is to see lies far from zero; at the end there is nothing to see."""

    observation_space = spaces.Box(0, 200, (1,), np.float32)
    action_space = spaces.Discrete(2)

    def draw(self) -> None:
        self.seen = np.array([self.np_random.uniform(100, 200)], np.float32)

    def see(self) -> Any:
        return self.seen

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return np.zeros(1, np.float32), float(action == (self.seen[0] > 150)), True, False, {}


class Blind(Toy):
    """Sees something that is not a number, at first or at the end of an episode."""

    def __init__(self, when: str) -> None:
        self.when = when

    def see(self) -> Any:
        bad = self.time == {"first": 0, "last": 8}[self.when]
        return np.full(3, np.nan if bad else 0.5, np.float32)


class Counter(gym.Env[Any, Any]):
    """Sees (episode, time); reward is the time. Odd episodes terminate after 3 steps, even ones truncate."""

    observation_space = spaces.Box(0, np.inf, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self) -> None:
        self.episode = -1

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.episode += 1
        self.time = 0
        return self.see(), {}

    def see(self) -> Obs:
        return np.array([self.episode, self.time], np.float32)

    def step(self, _action: Any) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        self.time += 1
        ended = self.time == 3
        return (
            self.see(),
            float(self.time),
            ended and self.episode % 2 == 1,
            ended and self.episode % 2 == 0,
            {},
        )


class Faulty(Toy):
    """Well-behaved until a step that `fault` spoils."""

    def __init__(self, fault: str = "none", at: int = 300) -> None:
        self.fault, self.left = fault, at

    def earn(self, action: Any) -> float:
        self.left -= 1
        if self.left == 0 and self.fault == "raise":
            raise OSError("the simulator is gone\nand will not come back")
        if self.left == 0 and self.fault == "exit":
            raise SystemExit(7)
        if self.left == 0 and self.fault == "die":
            os._exit(3)
        if self.left == 0 and self.fault == "ctrl-c":
            Path("under-way").write_text("now")  # a pipe, at whose other end somebody waits
        if self.left == 0 and self.fault == "huge":
            return 1e300
        return float("nan") if self.left == 0 and self.fault == "nan" else super().earn(action)


class Elsewhere(Toy):
    """Draws its chance from outside `np_random`, so that it cannot be replayed."""

    count = 0

    def draw(self) -> None:
        type(self).count += 1
        self.hidden = type(self).count % 3


class TwoEyes(Toy):
    """Something that has no fixed length cannot be a vector."""

    observation_space = spaces.Tuple((spaces.Discrete(3), spaces.Sequence(spaces.Discrete(3))))

    def see(self) -> Any:
        return 1, (1, 2)


class TwoScreens(Toy):
    """A number and a picture: what is flattened would not be seen as a picture any more."""

    observation_space = spaces.Dict({"level": spaces.Discrete(3), "screen": spaces.Box(0, 255, (36, 36, 1))})


class Parts(Toy):
    """What to name stands in one of several things to see."""

    observation_space = spaces.Dict(
        {
            "noise": spaces.Box(-1, 1, (2, 2), np.float32),
            "number": spaces.Discrete(3, start=4),
            "switches": spaces.MultiBinary(2),
        }
    )

    def see(self) -> Any:
        noise = self.np_random.uniform(-1, 1, (2, 2)).astype(np.float32)
        return {"noise": noise, "number": 4 + self.hidden, "switches": np.array([0, 1], np.int8)}


class Numbers(Toy):
    """The second of two numbers is what to name."""

    observation_space = spaces.MultiDiscrete([2, 3])

    def see(self) -> Any:
        return np.array([self.np_random.integers(2), self.hidden])


class Chord(Toy):
    """Two choices at once, counted from 0 and from 5; each earns its half."""

    action_space = spaces.MultiDiscrete([3, 2], start=[0, 5])

    def earn(self, action: Any) -> float:
        assert self.action_space.contains(action), action
        return 0.5 * float(action[0] == self.hidden) + 0.5 * float(action[1] == 5 + self.hidden % 2)


class Dark(Toy):
    """Says that it renders images, and cannot."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}  # noqa: RUF012 (Gymnasium's own way)

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode

    def render(self) -> Any:
        raise RuntimeError("video system not initialized")


class NoEyes(Toy):
    observation_space = spaces.Box(-1, 1, (0,), np.float32)

    def see(self) -> Any:
        return np.zeros(0, np.float32)


class TwoHands(Toy):
    action_space = spaces.MultiBinary(2)


CLASSES = (
    *(Identity, DiscreteIdentity, Bandit, Reach, Halves, Mirrored, Memory, Far),
    *(Counter, Faulty, Elsewhere, TwoHands, TwoEyes, NoEyes, TwoScreens, Parts, Numbers, Chord, Dark),
)


def register() -> None:
    for made in CLASSES:
        name = f"toys/{made.__name__}-v0"
        if name not in gym.registry:
            gym.register(name, entry_point=made)
