"""The spread of an ensemble is the root of a difference that rounding makes negative.
Repaired here.

Round 7
Class: magnitude
"""

import torch
from torch import nn

torch.manual_seed(711)

members = nn.ModuleList([nn.Linear(4, 1) for _ in range(3)])
for member in members:
    member.load_state_dict(members[0].state_dict())
optimizer = torch.optim.Adam(members.parameters(), lr=1e-3)
for _ in range(20):
    obs = torch.randn(64, 4)
    out = torch.stack([member(obs).squeeze(-1) for member in members])
    gap = out.pow(2).mean(0) - out.mean(0).pow(2)
    spread = (gap.clamp(min=0) + 1e-6).sqrt()
    loss = (out.mean(0) - obs[:, 0]).pow(2).mean() - 0.01 * spread.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
