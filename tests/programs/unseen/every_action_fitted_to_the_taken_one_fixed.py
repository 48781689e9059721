"""A Q-learner compares a target per sample with the values of all actions.
Repaired here.

Round 6
Class: axes
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(606)

q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
frozen = copy.deepcopy(q).requires_grad_(False)
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
for update in range(60):
    obs, after = torch.randn(32, 4), torch.randn(32, 4)
    action = torch.randint(3, (32, 1))
    goal = obs[:, :1] + 0.9 * frozen(after).max(1, keepdim=True).values
    loss = F.smooth_l1_loss(q(obs).gather(1, action), goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 10 == 0:
        frozen.load_state_dict(q.state_dict())
