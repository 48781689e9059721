"""Two replicas of a critic take the average of their gradients as one shared tensor, so that scaling the first
replica's gradient scales the second's again.
Repaired here.

Class: gradients by hand
"""

import copy

import torch
from torch import nn

torch.manual_seed(29)
first = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 1))
second = copy.deepcopy(first)
first_opt = torch.optim.SGD(first.parameters(), lr=0.1)
second_opt = torch.optim.SGD(second.parameters(), lr=0.1)


def scale_gradients(module, factor):
    for p in module.parameters():
        p.grad.mul_(factor)


def update(obs, returns):
    first_opt.zero_grad()
    second_opt.zero_grad()
    halves = zip((first, second), obs.chunk(2), returns.chunk(2))
    loss = sum((critic(o).squeeze(-1) - r).pow(2).mean() for critic, o, r in halves)
    loss.backward()
    for p, q in zip(first.parameters(), second.parameters()):
        mixed = 0.5 * (p.grad + q.grad)
        p.grad, q.grad = mixed, mixed.clone()
    scale_gradients(first, 0.5)
    scale_gradients(second, 0.5)
    first_opt.step()
    second_opt.step()
    return loss.item()


weight = torch.randn(4)
for step in range(120):
    obs = torch.randn(32, 4)
    loss = update(obs, 0.5 * obs @ weight)
print("loss", loss)
