# finds: GS104
import numpy as np
import torch
from torch import nn


class VectorEnv:
    """Writes every observation into the same buffer, as many vectorised environments do."""

    def __init__(self, n):
        self.buffer = np.zeros((n, 3), dtype=np.float32)

    def step(self):
        self.buffer[:] = np.random.randn(*self.buffer.shape)
        return self.buffer


env = VectorEnv(4)
value = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(value.parameters(), lr=1e-2)
for _ in range(30):
    values, rewards = [], []
    for _ in range(4):
        obs = torch.from_numpy(env.step().copy())
        #! obs = torch.from_numpy(env.step())
        values.append(value(obs).squeeze(1))
        rewards.append(torch.from_numpy(np.random.randn(4)).float())
    loss = (torch.stack(values) - torch.stack(rewards)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
