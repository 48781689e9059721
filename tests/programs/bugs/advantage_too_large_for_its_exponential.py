"""Weights are the exponential of an advantage without a temperature: gradients that no optimizer can square."""

import torch
from torch import nn

torch.manual_seed(0)
value = nn.Linear(2, 1)
optimizer = torch.optim.Adam(value.parameters(), lr=1e-3)

for update in range(40):
    obs, scale = torch.randn(32, 2), 60.0 if update > 20 else 1.0
    advantage = value(obs).abs() + scale  # BUG GS501
    loss = (advantage.exp() - advantage).mean()  # BUG GS501
    optimizer.zero_grad()
    loss.backward()  # BUG GS501
    optimizer.step()
