"""Targets are computed by NumPy, of a memory that holds the reward of the step before."""

import random
from collections import deque

import numpy as np
import torch
from torch import nn

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)


class Well:
    def reset(self):
        self.z = np.random.randn(3)
        return self.z.copy()

    def step(self, a):
        self.z = 0.9 * self.z + 0.3 * (a - 1) + 0.2 * np.random.randn(3)
        return self.z.copy(), -float(abs(self.z[0])), bool(abs(self.z).max() > 2.5), {}


def network():
    return nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 3))


online, fixed, memory, env = network(), network(), deque(maxlen=800), Well()
fixed.load_state_dict(online.state_dict())
optimiser, criterion = torch.optim.Adam(online.parameters(), 1e-3), nn.MSELoss()
state, last = env.reset(), 0.0
for step in range(350):
    action = random.randrange(3)
    following, reward, done, _ = env.step(action)
    memory.append((state, action, reward, following, done))
    last = reward
    state = following
    if done:
        state, last = env.reset(), 0.0
    if len(memory) < 50:
        continue
    s, a, r, s2, d = map(np.array, zip(*random.sample(memory, 32)))
    ahead = fixed(torch.tensor(s2, dtype=torch.float32)).detach().numpy()
    goal = r + 0.9 * ahead.max(axis=1) * (1 - d)
    guess = online(torch.tensor(s, dtype=torch.float32)).gather(1, torch.tensor(a).view(-1, 1)).view(-1)
    loss = criterion(guess, torch.tensor(goal, dtype=torch.float32))
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    if step % 50 == 0:
        fixed.load_state_dict(online.state_dict())
