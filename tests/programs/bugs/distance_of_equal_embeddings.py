"""Contrastive exploration: the distance of a state to itself is zero, and sqrt has no slope there."""

import torch
from torch import nn

torch.manual_seed(0)
embed = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(embed.parameters(), lr=1e-3)


def distance(a, b):
    return ((a - b) ** 2).sum(-1).sqrt()  # BUG GS503


for _ in range(6):
    anchor = torch.randn(8, 3)
    positive = anchor.clone()
    positive[1:] += 0.1 * torch.randn(7, 3)
    z = embed(anchor)
    loss = distance(z, embed(positive)).mean() - 0.1 * distance(z, embed(torch.randn(8, 3))).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
