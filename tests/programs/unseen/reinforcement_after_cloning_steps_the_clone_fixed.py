"""Behaviour cloning, then reinforcement on a copy: the optimizer stays that of the cloned policy.
Repaired here.

Round 10
Class: late and rare
"""

import copy

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1011)
policy = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for step in range(120):
    obs = torch.randn(32, 6)
    loss = nn.functional.cross_entropy(policy(obs), obs[:, :3].argmax(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

student = copy.deepcopy(policy)
student_optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
for step in range(120):
    obs = torch.randn(32, 6)
    dist = Categorical(logits=student(obs))
    action = dist.sample()
    reward = (action == obs[:, :3].argmin(-1)).float()
    loss = -(dist.log_prob(action) * (reward - reward.mean())).mean()
    student_optimizer.zero_grad()
    loss.backward()
    student_optimizer.step()
