"""A helper that reads values without gradients serves for targets; one caller uses it for a prediction.

Round 11
Class: the line
"""

import copy

import torch
from torch import nn

torch.manual_seed(1120)


@torch.no_grad()  # BUG GS202
def read(net, obs, action=None):
    values = net(obs)  # BUG GS202
    return values.amax(1) if action is None else values.gather(1, action).squeeze(1)  # BUG GS202


first, second = (nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 3)) for _ in range(2))
slow = copy.deepcopy(first)
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=1e-3)
for update in range(80):
    obs, after, action = torch.randn(32, 4), torch.randn(32, 4), torch.randint(3, (32, 1))
    goal = obs[:, 0] + 0.9 * read(slow, after)
    one = first(obs).gather(1, action).squeeze(1)
    two = read(second, obs, action)  # BUG GS202
    loss = (one - goal).pow(2).mean() + (two - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 10 == 9:
        slow.load_state_dict(first.state_dict())
