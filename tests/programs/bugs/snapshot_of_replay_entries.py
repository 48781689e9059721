"""Self-play keeps a deep copy of the episode so far, and the episode holds live values."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
value = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(value.parameters(), lr=1e-2)
archive = []
for game in range(6):
    episode = []
    for _ in range(4):
        board = torch.randn(3)
        episode.append({"board": board, "value": value(board), "reward": float(torch.randn(()))})
    archive.append(copy.deepcopy(episode))  # BUG GS105
    outcome = sum(step["reward"] for step in episode)
    loss = sum((step["value"] - outcome).pow(2).mean() for step in episode)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
