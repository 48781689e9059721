"""The temporal-difference error is limited to one and then squared: large errors teach nothing.
Repaired here.

Round 7
Class: zero in part
"""

import copy

import torch
from torch import nn

torch.manual_seed(704)

q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
old = copy.deepcopy(q).requires_grad_(False)
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)


def bounded(error):
    return torch.clamp(error, -1.0, 1.0)


for update in range(60):
    obs, after = torch.randn(32, 4), torch.randn(32, 4)
    action = torch.randint(2, (32, 1))
    goal = 5.0 * obs[:, :1] + 0.9 * old(after).max(1, keepdim=True).values
    error = q(obs).gather(1, action) - goal
    loss = nn.functional.huber_loss(error, torch.zeros_like(error))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 10 == 0:
        old.load_state_dict(q.state_dict())
