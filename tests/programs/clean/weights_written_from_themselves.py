"""Weights that are shrunk, clipped, perturbed and normalised in place: no target network, and no alias."""

import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)

for _ in range(16):
    obs, wanted = torch.randn(32, 4), torch.randn(32, 1)
    loss = nn.functional.mse_loss(critic(obs), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p in critic.parameters():
            p.mul_(0.999)
            p.copy_(p.clamp(-1.0, 1.0))
            p.add_(p * 1e-4 * torch.randn_like(p))
            p.copy_(0.9 * p + 0.1 * torch.randn_like(p) * p.abs().mean())
            p.lerp_(p.mean().expand_as(p), 1e-3)
