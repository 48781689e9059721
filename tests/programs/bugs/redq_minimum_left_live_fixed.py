"""REDQ: the minimum over a random subset of the live ensemble is the target."""

import torch
from torch import nn

torch.manual_seed(0)
ensemble = nn.ModuleList(nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1)) for _ in range(4))
optimizer = torch.optim.Adam(ensemble.parameters(), lr=3e-4)


def backup(reward, done, next_pair):
    subset = torch.randperm(4)[:2].tolist()
    lowest = torch.stack([ensemble[i](next_pair) for i in subset]).amin(0)
    return reward + 0.99 * (1.0 - done) * lowest.detach()


for _ in range(12):
    pair, next_pair = torch.randn(16, 5), torch.randn(16, 5)
    wanted = backup(torch.randn(16, 1), torch.zeros(16, 1), next_pair)
    loss = sum(nn.functional.mse_loss(q(pair), wanted) for q in ensemble)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
