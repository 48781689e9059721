"""A loss that is given the network for its targets: for the second of two agents that is the one it trains.

Round 10
Class: the line
"""

import copy

import torch
from torch import nn

torch.manual_seed(1021)


def td_loss(net, bootstrap, obs, action, reward, after):
    following = bootstrap(after).amax(1, keepdim=True)
    target = reward + 0.95 * following  # BUG GS301
    return nn.functional.smooth_l1_loss(net(obs).gather(1, action), target)


def make():
    return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))


hunter, prey = make(), make()
slow_hunter, slow_prey = (copy.deepcopy(n).requires_grad_(False) for n in (hunter, prey))
optimizer = torch.optim.Adam([*hunter.parameters(), *prey.parameters()], lr=1e-3)
for update in range(120):
    obs, after = torch.randn(32, 4), torch.randn(32, 4)
    action = torch.randint(2, (32, 1))
    first = td_loss(hunter, slow_hunter, obs, action, obs[:, :1], after)
    second = td_loss(prey, prey, obs, action, -obs[:, :1], after)  # BUG GS301
    optimizer.zero_grad()
    (first + second).backward()
    optimizer.step()
    if update % 20 == 19:
        slow_hunter.load_state_dict(hunter.state_dict())
        slow_prey.load_state_dict(prey.state_dict())
