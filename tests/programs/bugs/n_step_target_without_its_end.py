"""Two-step targets whose last state may be terminal: its value is added all the same."""

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

    def windows(self):
        """Where the steps of a whole window belong to one episode."""
        starts = np.arange(self.count - self.n + 1)
        inside = [self.over[starts + k] == 0 for k in range(self.n - 1)]
        return starts[np.logical_and.reduce(inside)]


critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
env, ring = Drift(2), Ring(1000, 2, 0.9)
obs, _ = env.reset()
for step in range(600):
    following, reward, over, _, _ = env.step(1.0)
    ring.add(obs, reward, following, over)
    obs = env.reset()[0] if over else following
    if step >= 150 and step % 15 == 0:
        at = np.random.default_rng(step).choice(ring.windows(), 64)
        first, second = torch.from_numpy(ring.reward[at]), torch.from_numpy(ring.reward[at + 1])
        reward_sum = first + 0.9 * second
        over_now = torch.from_numpy(ring.over[at + 1])
        with torch.no_grad():
            value = critic(torch.from_numpy(ring.next[at + 1])).squeeze(-1)
            target = reward_sum + 0.81 * value  # BUG GS805
        loss = nn.functional.mse_loss(critic(torch.from_numpy(ring.obs[at])).squeeze(-1), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
