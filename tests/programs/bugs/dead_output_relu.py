"""The value network ends in a ReLU, and all returns are negative."""

import torch
from torch import nn

torch.manual_seed(0)
value = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1), nn.ReLU())
optimizer = torch.optim.SGD(value.parameters(), lr=0.1)
for _ in range(25):
    obs, returns = torch.randn(32, 3), -3.0 - torch.rand(32, 1)
    loss = nn.functional.mse_loss(value(obs), returns)  # BUG GS208
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
