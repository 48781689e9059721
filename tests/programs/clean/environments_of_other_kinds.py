"""Environments that only look like one: a fixed horizon in the older interface, dictionaries by agent, and an absorbing
state that an ended episode goes on in."""

import numpy as np
import torch
from torch import nn

GAMMA = 0.96


class Horizon:
    """Four values, and `done` says that the time is up: what was reached is worth something."""

    def __init__(self):
        self.random = np.random.default_rng(0)

    def reset(self):
        self.x, self.age = self.random.normal(size=3).astype(np.float32), 0
        return self.x.copy()

    def step(self, action):
        self.x = (0.9 * self.x + self.random.normal(0.1 * action, 0.2, size=3)).astype(np.float32)
        self.age += 1
        return self.x.copy(), -float(abs(self.x).sum()), self.age == 8, {}


class Pair:
    """Two agents at once."""

    agents = ("left", "right")

    def __init__(self):
        self.random = np.random.default_rng(0)

    def reset(self):
        self.x = {name: self.random.normal(size=3).astype(np.float32) for name in self.agents}
        return {name: x.copy() for name, x in self.x.items()}, {name: {} for name in self.agents}

    def step(self, actions):
        for name, action in actions.items():
            self.x[name] = (self.x[name] + self.random.normal(0.1 * action, 0.5, size=3)).astype(np.float32)
        over = bool(max(abs(x).max() for x in self.x.values()) > 2.0)
        observations = {name: x.copy() for name, x in self.x.items()}
        rewards = {name: float(x[0]) for name, x in self.x.items()}
        flags = [dict.fromkeys(self.agents, flag) for flag in (over, False)]
        return observations, rewards, *flags, {name: {} for name in self.agents}


class Absorbing:
    """An ended episode is in the absorbing state for ever, whose value is learned like any other's (as in DAC)."""

    def __init__(self):
        self.random = np.random.default_rng(0)

    def reset(self):
        self.x = self.random.normal(0.0, 0.5, size=3).astype(np.float32)
        return self.x.copy(), {}

    def step(self, action):
        self.x = (self.x + self.random.normal(0.1 * action, 0.6, size=3)).astype(np.float32)
        return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 1.5), False, {}


def network(out):
    return nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, out))


def update(rows, value, optimizer):
    s, r, s2, goes_on = (
        torch.as_tensor(np.array(part), dtype=torch.float32) for part in zip(*rows, strict=True)
    )
    with torch.no_grad():
        target = r + GAMMA * goes_on * value(s2).squeeze(-1)
    loss = (value(s).squeeze(-1) - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def with_horizon():
    env, value = Horizon(), network(1)
    optimizer = torch.optim.Adam(value.parameters(), lr=1e-3)
    obs = env.reset()
    for _ in range(8):
        rows = []
        for _ in range(32):
            following, reward, done, _ = env.step(1.0)
            rows.append((obs, reward, following, 1.0))
            obs = env.reset() if done else following
        update(rows, value, optimizer)


def with_pair():
    env, value = Pair(), network(1)
    optimizer = torch.optim.Adam(value.parameters(), lr=1e-3)
    obs, _ = env.reset()
    for _ in range(8):
        rows = []
        for _ in range(16):
            following, rewards, over, _, _ = env.step(dict.fromkeys(env.agents, 0.0))
            rows += [(obs[name], rewards[name], following[name], 1.0 - over[name]) for name in env.agents]
            obs = env.reset()[0] if over["left"] else following
        update(rows, value, optimizer)


def with_absorbing_state():
    env, value = Absorbing(), network(1)
    optimizer = torch.optim.Adam(value.parameters(), lr=1e-3)
    nowhere = np.zeros(3, dtype=np.float32)
    obs, _ = env.reset()
    for _ in range(8):
        rows = []
        for _ in range(32):
            following, reward, terminated, _, _ = env.step(0.0)
            rows.append((obs, reward, nowhere if terminated else following, 1.0))
            if terminated:
                rows.append((nowhere, 0.0, nowhere, 1.0))
            obs = env.reset()[0] if terminated else following
        update(rows, value, optimizer)


torch.manual_seed(0)
with_horizon()
with_pair()
with_absorbing_state()
