"""Prioritised replay: importance weights are computed from the live TD error."""

import torch
from torch import nn

torch.manual_seed(0)
q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
priorities = torch.rand(64) + 0.1
for _ in range(12):
    index = torch.multinomial(priorities, 16)
    obs, action, wanted = torch.randn(16, 4), torch.randint(2, (16, 1)), torch.randn(16)
    error = wanted - q(obs).gather(1, action).squeeze(1)  # BUG GS402
    weights = (priorities[index] / priorities.sum()).pow(-0.4)
    loss = (weights / weights.max() * error.pow(2)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    priorities[index] = error.abs() + 1e-3  # BUG GS305 GS402
