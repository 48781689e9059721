"""A penalty for drifting away from the teacher is computed with a helper that flattens and detaches.
Repaired here.

Round 5
Class: the line
"""

import copy

import torch
from torch import nn

torch.manual_seed(518)


def flat(module):
    return torch.cat([p.detach().reshape(-1) for p in module.parameters()])


def distance(one, other):
    return (one - other).pow(2).sum()


student = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 3))
teacher = copy.deepcopy(student).requires_grad_(False)
optimizer = torch.optim.Adam(student.parameters(), lr=1e-2)
for update in range(60):
    obs = torch.randn(32, 6)
    dist = torch.distributions.Categorical(logits=student(obs))
    action = dist.sample()
    reward = (action == obs[:, :3].argmax(-1)).float()
    loss = -(dist.log_prob(action) * (reward - reward.mean())).mean()
    live = torch.cat([p.reshape(-1) for p in student.parameters()])
    loss = loss + 0.1 * distance(live, flat(teacher))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
