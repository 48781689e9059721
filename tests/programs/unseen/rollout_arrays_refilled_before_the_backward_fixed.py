"""Tensors share the memory of NumPy rollout buffers; the next rollout is written into them before the loss is differentiated.
Repaired here.

Round 9
Class: hidden writes
"""

import numpy as np
import torch
from torch import nn

torch.manual_seed(914)
rng = np.random.default_rng(914)
STEPS = 32


class Rollout:
    def __init__(self):
        self.obs = np.zeros((STEPS, 5), np.float32)
        self.returns = np.zeros(STEPS, np.float32)

    def fill(self):
        self.obs[:] = rng.normal(size=self.obs.shape)
        self.returns[:] = self.obs[:, 0] - self.obs[:, 1]

    def tensors(self):
        return torch.from_numpy(self.obs.copy()), torch.from_numpy(self.returns.copy())


critic = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
rollout = Rollout()
rollout.fill()
for update in range(40):
    obs, returns = rollout.tensors()
    loss = (critic(obs).squeeze(-1) - returns).pow(2).mean()
    rollout.fill()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
