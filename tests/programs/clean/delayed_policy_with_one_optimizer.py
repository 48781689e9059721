"""One optimizer for all; the actor's term joins every second update with the critic's weights frozen."""

import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2), nn.Tanh())
critic = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)
for step in range(16):
    obs, action, wanted = torch.randn(16, 4), torch.rand(16, 2), torch.randn(16, 1)
    loss = (critic(torch.cat([obs, action], -1)) - wanted).pow(2).mean()
    if step % 2:
        critic.requires_grad_(False)
        loss = loss - critic(torch.cat([obs, actor(obs)], -1)).mean()
        critic.requires_grad_(True)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
