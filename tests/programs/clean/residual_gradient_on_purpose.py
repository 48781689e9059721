"""The residual-gradient algorithm differentiates through the target and says so."""

import torch
from torch import nn

torch.manual_seed(0)
v = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1), nn.Flatten(0))
optimizer = torch.optim.SGD(v.parameters(), lr=1e-2)
for _ in range(10):
    obs, reward, next_obs = torch.randn(16, 4), torch.randn(16), torch.randn(16, 4)
    residual = reward + 0.9 * v(next_obs) - v(obs)  # gradsan: allow target-carries-gradient
    loss = residual.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
