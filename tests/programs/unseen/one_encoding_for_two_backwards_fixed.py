"""Two heads of one encoder have a loss and a backward each; the first backward frees what both share.
Repaired here.

Round 7
Class: forward errors
"""

import torch
from torch import nn

torch.manual_seed(702)

encoder = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
reward_head, next_head = nn.Linear(16, 1), nn.Linear(16, 6)
optimizer = torch.optim.Adam(
    [*encoder.parameters(), *reward_head.parameters(), *next_head.parameters()], lr=1e-3
)
for _ in range(20):
    obs = torch.randn(32, 6)
    code = encoder(obs)
    reward_loss = (reward_head(code).squeeze(-1) - obs[:, 0]).pow(2).mean()
    next_loss = (next_head(code) - obs.roll(1, 1)).pow(2).mean()
    optimizer.zero_grad()
    (reward_loss + next_loss).backward()
    optimizer.step()
