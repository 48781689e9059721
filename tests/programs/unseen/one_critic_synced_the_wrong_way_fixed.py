"""A helper copies one network into another; of the two critics, one call has its arguments exchanged.
Repaired here.

Round 3
Class: the line
"""

import copy

import torch
from torch import nn

torch.manual_seed(315)


def blend(into, source, rate=0.02):
    with torch.no_grad():
        for mine, theirs in zip(into.parameters(), source.parameters()):
            mine.mul_(1 - rate).add_(rate * theirs)


def critic():
    return nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 1))


q1, q2 = critic(), critic()
t1, t2 = copy.deepcopy(q1), copy.deepcopy(q2)
optimizer = torch.optim.Adam([*q1.parameters(), *q2.parameters()], lr=1e-3)
for step in range(100):
    x, following = torch.randn(32, 5), torch.randn(32, 5)
    reward = x.sum(-1, keepdim=True)
    with torch.no_grad():
        goal = reward + 0.95 * torch.min(t1(following), t2(following))
    loss = sum((q(x) - goal).pow(2).mean() for q in (q1, q2))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    blend(t1, q1)
    blend(t2, q2)
