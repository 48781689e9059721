"""n-step returns read from an array of consecutive steps, stopped at the end of an episode."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(9)


class Drift:
    """A point that drifts; leaving the field ends the episode."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def reset(self):
        self.x = self.random.normal(size=3).astype(np.float32)
        return self.x.copy(), {}

    def step(self, action):
        self.x = (self.x + self.random.normal(0.2 * action, 0.5, 3)).astype(np.float32)
        return self.x.copy(), float(1.0 - abs(self.x[0])), bool(np.abs(self.x).max() > 2.5), False, {}


class Ring:
    def __init__(self, size, n, gamma):
        self.obs, self.next = np.zeros((size, 3), np.float32), np.zeros((size, 3), np.float32)
        self.reward, self.over = np.zeros(size, np.float32), np.zeros(size, np.float32)
        self.n, self.gamma, self.count = n, gamma, 0

    def add(self, obs, reward, following, over):
        at = self.count
        self.obs[at], self.reward[at], self.next[at], self.over[at] = obs, reward, following, over
        self.count += 1

    def sample(self, rows):
        at = np.random.default_rng(self.count).integers(0, self.count - self.n, rows)
        total, going, last = np.zeros(rows, np.float32), np.ones(rows, np.float32), at.copy()
        for k in range(self.n):
            total += self.gamma**k * self.reward[at + k] * going
            last = np.where(going > 0, at + k, last)
            going *= 1.0 - self.over[at + k]
        parts = self.obs[at], total, self.next[last], going
        return [torch.from_numpy(part) for part in parts]


class Learner:
    def __init__(self):
        self.critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
        self.opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def update(self, ring):
        obs, total, last, going = ring.sample(64)
        with torch.no_grad():
            target = total + ring.gamma**ring.n * going * self.critic(last).squeeze(-1)
        loss = (self.critic(obs).squeeze(-1) - target).pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


env, ring, learner = Drift(1), Ring(1000, 4, 0.95), Learner()
obs, _ = env.reset()
for step in range(600):
    following, reward, over, _, _ = env.step(1.0)
    ring.add(obs, reward, following, over)
    obs = env.reset()[0] if over else following
    if step >= 150 and step % 15 == 0:
        learner.update(ring)
