"""Weights are perturbed by noise of their own size."""

import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)

for _ in range(12):
    obs, wanted = torch.randn(32, 4), torch.randn(32, 1)
    loss = nn.functional.mse_loss(critic(obs), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for weight in critic.parameters():
            weight.add_(0.01 * weight.abs().mean() * torch.randn_like(weight))
            weight.clamp_(-2.0, 2.0)
