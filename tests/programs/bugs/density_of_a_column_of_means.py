"""Normal with means [B, 1] scores actions [B]: the density becomes a matrix."""

import torch
from torch import nn

torch.manual_seed(0)
mean = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
log_std = nn.Parameter(torch.zeros(1))
optimizer = torch.optim.Adam([*mean.parameters(), log_std], lr=1e-3)
for _ in range(12):
    obs, advantage = torch.randn(16, 3), torch.randn(16)
    action = torch.randn(16)
    dist = torch.distributions.Normal(mean(obs), log_std.exp())
    log_prob = dist.log_prob(action)  # BUG GS601
    loss = -(log_prob * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
