"""Weights are the exponential of an advantage at a temperature that suits it."""

import torch
from torch import nn

torch.manual_seed(0)
value = nn.Linear(2, 1)
optimizer = torch.optim.Adam(value.parameters(), lr=1e-3)

for update in range(40):
    obs, scale = torch.randn(32, 2), 60.0 if update > 20 else 1.0
    advantage = (value(obs).abs() + scale) / 30
    loss = (advantage.exp() - advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
