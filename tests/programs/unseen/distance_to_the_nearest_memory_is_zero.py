"""A successor-distance loss takes the root of squared distances, also of the pairs that are the same state.

Round 4
Class: magnitude
"""

import torch
from torch import nn

torch.manual_seed(422)

embed = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 8))
optimizer = torch.optim.Adam(embed.parameters(), lr=1e-3)
for update in range(20):
    states = torch.randn(16, 4)
    codes = embed(states)
    gaps = (codes[:, None] - codes[None]).pow(2).sum(-1)
    distances = gaps.sqrt()  # BUG GS503
    steps = (states[:, None, 0] - states[None, :, 0]).abs()
    loss = (distances - steps).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
