"""A vectorised cliff walk: the targets of the critic go on after the goal, because the flag is stored and not used.

Round 8
Class: meaning
"""

import numpy as np
import torch
from torch import nn

torch.manual_seed(825)
rng = np.random.default_rng(825)


class Hills:
    """Several copies side by side; each starts anew when it is over."""

    def __init__(self, copies):
        self.copies = copies

    def reset(self, seed=None):
        self.x = rng.normal(size=(self.copies, 3)).astype(np.float32)
        return self.x.copy(), {}

    def step(self, action):
        self.x = (self.x + 0.3 * action + rng.normal(0, 0.3, self.x.shape)).astype(np.float32)
        over = np.abs(self.x).max(1) > 2.2
        reward = np.where(over, -5.0, 0.1).astype(np.float32)
        last = self.x.copy()
        self.x[over] = rng.normal(size=(int(over.sum()), 3)).astype(np.float32)
        return last, reward, over, np.zeros(self.copies, bool), {}


class Agent:
    def __init__(self):
        self.v = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
        self.opt = torch.optim.Adam(self.v.parameters(), lr=1e-3)

    def learn(self, obs, reward, after, done):
        with torch.no_grad():
            following = self.v(after).squeeze(-1)
            target = reward + 0.95 * following  # BUG GS805
        loss = (self.v(obs).squeeze(-1) - target).pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


env, agent = Hills(8), Agent()
obs, _ = env.reset()
for update in range(120):
    action = rng.normal(size=(8, 3)).astype(np.float32)
    after, reward, terminated, truncated, _ = env.step(action)
    agent.learn(
        torch.from_numpy(obs),
        torch.from_numpy(reward),
        torch.from_numpy(after),
        torch.tensor(terminated).float(),
    )
    obs = env.x.copy()
