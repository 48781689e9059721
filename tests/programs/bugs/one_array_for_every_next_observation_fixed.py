"""The environment writes what it sees into one array, and the replay memory keeps that array again and again."""

import random
from collections import deque

import numpy as np
import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)


class Counter:
    def __init__(self):
        self.obs, self.rng = np.zeros(3, np.float32), np.random.default_rng(0)

    def reset(self):
        self.obs[:] = self.rng.normal(size=3)
        return self.obs

    def step(self, a):
        self.obs[:] = self.obs + 0.3 * a + self.rng.normal(0, 0.3, 3)
        return self.obs, float(self.obs[0]), bool(abs(self.obs[0]) > 2), {}


env, memory = Counter(), deque(maxlen=500)
q = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
old = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
old.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), 1e-3)
state = env.reset()
for step in range(300):
    action = random.randrange(2)
    before = state.copy()
    state, reward, done, _ = env.step(2 * action - 1)
    memory.append((before, action, reward, state.copy(), done))
    if done:
        state = env.reset()
    if step < 64:
        continue
    s, a, r, s2, d = zip(*random.sample(memory, 32))
    s, s2 = torch.tensor(np.stack(s)), torch.tensor(np.stack(s2))
    a, r, d = torch.tensor(a), torch.tensor(r), torch.tensor(d).float()
    y = r + 0.9 * (1 - d) * old(s2).detach().max(1).values
    loss = (q(s)[range(32), a] - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 40 == 0:
        old.load_state_dict(q.state_dict())
