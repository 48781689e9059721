"""A reward model learns from comparisons (Bradley and Terry): the two sides are parts of one tensor, and differ."""

import torch
from torch import nn

torch.manual_seed(0)
reward = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(reward.parameters(), lr=1e-2)

for _ in range(12):
    pairs = torch.randn(32, 2, 3)
    preferred, other = reward(pairs[:, 0]), reward(pairs[:, 1])
    halves = torch.randn(2, 32, 3)
    margin = reward(halves.narrow(0, 0, 1)) - reward(halves.narrow(0, 1, 1))
    loss = -nn.functional.logsigmoid(preferred - other).mean() - nn.functional.logsigmoid(margin).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
