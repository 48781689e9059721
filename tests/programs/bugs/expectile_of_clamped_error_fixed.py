"""IQL's expectile loss on an error that is clamped first: the worst samples get no gradient."""

import torch
from torch import nn

torch.manual_seed(0)
value = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(value.parameters(), lr=1e-3)


def expectile(error, tau=0.8):
    weight = torch.where(error > 0, tau, 1 - tau)
    return (weight * error**2).mean()


for _ in range(20):
    obs, q = torch.randn(32, 4), 6.0 + 3.0 * torch.randn(32)
    error = q - value(obs).squeeze(-1)
    loss = expectile(error)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
