"""IQL: Q's target is made of V, and both are in one optimizer."""

import torch
from torch import nn

torch.manual_seed(0)


def mlp(inputs):
    return nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0))


nets = nn.ModuleDict({"q": mlp(6), "v": mlp(4)})
optimizer = torch.optim.Adam(nets.parameters(), lr=3e-4)
for _ in range(12):
    obs, action, reward = torch.randn(32, 4), torch.randn(32, 2), torch.randn(32)
    next_obs, done = torch.randn(32, 4), torch.zeros(32)
    q = nets["q"](torch.cat([obs, action], 1))
    gap = q.detach() - nets["v"](obs)
    v_loss = (torch.where(gap > 0, 0.7, 0.3) * gap.square()).mean()
    backup = reward + 0.99 * (1 - done) * nets["v"](next_obs).detach()
    q_loss = (backup - q).square().mean()
    optimizer.zero_grad()
    (q_loss + v_loss).backward()
    optimizer.step()
