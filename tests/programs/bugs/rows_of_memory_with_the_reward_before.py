"""A DQN learns row by row from a memory that holds the reward of the step before."""

import random

import numpy as np
import torch
from torch import nn

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)


class Rover:
    def reset(self):
        self.p = np.random.randn(4).astype(np.float32)
        return self.p.copy(), {}

    def step(self, a):
        self.p = (0.95 * self.p + 0.2 * (a - 1) + 0.2 * np.random.randn(4)).astype(np.float32)
        return self.p.copy(), float(-np.abs(self.p).sum()), bool(abs(self.p).max() > 3), False, {}


def mlp(o):
    return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, o))


env, q, slow = Rover(), mlp(3), mlp(3)
slow.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), 1e-3)
memory = []
obs, _ = env.reset()
for t in range(120):
    a = random.randrange(3)
    nxt, r, end, _, _ = env.step(a)
    memory.append((obs, a, memory[-1][5] if memory else 0.0, nxt, end, r))  # BUG GS806
    obs = env.reset()[0] if end else nxt
    if t < 40:
        continue
    for s, act, rew, s2, d, _ in random.sample(memory, 4):
        with torch.no_grad():
            y = rew + 0.9 * (0.0 if d else 1.0) * slow(torch.from_numpy(s2)).max()  # BUG GS806
        loss = (q(torch.from_numpy(s))[act] - y).pow(2)
        opt.zero_grad()
        loss.backward()
        opt.step()
