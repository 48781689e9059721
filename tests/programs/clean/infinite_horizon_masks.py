"""Masks for tasks without an end: time limits that are no ends, by both interfaces, and by an environment that calls
its horizon `terminated` and is known better: the mask is there, and is one on purpose."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)


class Glide:
    """A point that is to stay near the middle; an episode is cut after 20 steps, or `says_terminated` then."""

    def __init__(self, older=False, says_terminated=False):
        self.random, self.older, self.calls_it_an_end = np.random.default_rng(0), older, says_terminated

    def reset(self):
        self.x, self.age = self.random.normal(size=3).astype(np.float32), 0
        return self.x.copy() if self.older else (self.x.copy(), {})

    def step(self, action):
        self.x = (0.9 * self.x + self.random.normal(0.1 * action, 0.3, 3)).astype(np.float32)
        self.age += 1
        late = self.age >= 20
        reward = float(-abs(self.x).sum())
        if self.older:
            return self.x.copy(), reward, late, {"TimeLimit.truncated": late}
        return self.x.copy(), reward, late and self.calls_it_an_end, late and not self.calls_it_an_end, {}


def collect(env, steps):
    """Rows of (state, reward, next state, mask): `mask` is zero where nothing follows."""
    first = env.reset()
    state, rows = first if env.older else first[0], []
    for _ in range(steps):
        result = env.step(0.5)
        if env.older:
            following, reward, done, info = result
            mask = 1.0 if info["TimeLimit.truncated"] else 1.0 - done
            over = done
        else:
            following, reward, there, late, _ = result
            mask = 1.0  # an infinite horizon: running out of time is not the end of the task
            over = there or late
        rows.append((state, reward, following, mask))
        state = following
        if over:
            first = env.reset()
            state = first if env.older else first[0]
    return [torch.as_tensor(np.array(part), dtype=torch.float32) for part in zip(*rows)]


def learn(env):
    critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
    opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
    for _ in range(8):
        state, reward, following, mask = collect(env, 64)
        with torch.no_grad():
            target = reward + 0.98 * mask * critic(following).squeeze(-1)
        loss = (critic(state).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


learn(Glide())
learn(Glide(older=True))
learn(Glide(says_terminated=True))
