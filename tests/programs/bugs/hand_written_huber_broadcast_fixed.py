"""Huber by hand: the chosen values are [B, 1], the targets [B]."""

import torch
from torch import nn

torch.manual_seed(0)
q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
slow = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3)).requires_grad_(False)
slow.load_state_dict(q.state_dict())
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)


def huber(error, edge=1.0):
    size = error.abs()
    small = size.clamp(max=edge)
    return 0.5 * small**2 + edge * (size - small)


for step in range(12):
    obs, action, reward = torch.randn(16, 4), torch.randint(3, (16, 1)), torch.randn(16)
    wanted = reward + 0.9 * slow(torch.randn(16, 4)).max(dim=1).values
    loss = huber(q(obs).gather(1, action).squeeze(1) - wanted).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 3:
        slow.load_state_dict(q.state_dict())
