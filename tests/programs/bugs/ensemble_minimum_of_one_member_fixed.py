"""Discrete actions, an ensemble in a list: the target is the smallest of all members."""

import copy

import torch
from torch import nn

torch.manual_seed(19)
members = nn.ModuleList(nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3)) for _ in range(3))
slow = copy.deepcopy(members)
opt = torch.optim.Adam(members.parameters(), lr=1e-3)


def smallest(obs):
    each = [member(obs) for member in slow]
    return torch.stack(each).min(0).values


for step in range(24):
    obs, action, following, reward = (
        torch.randn(32, 4),
        torch.randint(3, (32, 1)),
        torch.randn(32, 4),
        torch.randn(32),
    )
    with torch.no_grad():
        target = reward + 0.95 * smallest(following).max(1).values
    loss = sum((member(obs).gather(1, action).squeeze(1) - target).pow(2).mean() for member in members)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 4 == 0:
        slow.load_state_dict(members.state_dict())
