"""The discriminator's gradient penalty is made of a gradient without a graph: it is a number that teaches nothing."""

import torch
from torch import nn

torch.manual_seed(0)
discriminator = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(discriminator.parameters(), lr=1e-3)

for _ in range(12):
    expert, own = torch.randn(32, 4), torch.randn(32, 4)
    mixed = torch.lerp(expert, own, torch.rand(32, 1)).requires_grad_(True)
    (slope,) = torch.autograd.grad(discriminator(mixed).sum(), mixed)  # BUG GS202
    penalty = (slope.norm(dim=1) - 1).pow(2).mean()
    loss = discriminator(own).mean() - discriminator(expert).mean() + 10 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
