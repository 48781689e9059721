"""Twin critics: the soft update names the first target twice."""

import copy

import torch
from torch import nn

torch.manual_seed(0)


def make():
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))


first, second = make(), make()
first_target, second_target = copy.deepcopy(first), copy.deepcopy(second)
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=1e-3)


@torch.no_grad()
def follow(target, online, tau=0.01):
    for t, p in zip(target.parameters(), online.parameters(), strict=True):
        t.mul_(1 - tau).add_(p, alpha=tau)


for update in range(150):
    pair, later, reward = torch.randn(32, 6), torch.randn(32, 6), torch.randn(32, 1)
    with torch.no_grad():
        goal = reward + 0.9 * torch.min(first_target(later), second_target(later))
    loss = (first(pair) - goal).pow(2).mean() + (second(pair) - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    follow(first_target, first)
    follow(second_target, second)
