"""Implicit Q-learning: the value is a column, the critics' minimum a row, and the expectile loss squares all pairs.
Repaired here.

Round 5
Class: axes
"""

import copy

import torch
from torch import nn

torch.manual_seed(506)


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, outputs))


class IQL:
    def __init__(self):
        self.q1, self.q2, self.v = mlp(6, 1), mlp(6, 1), mlp(4, 1)
        self.frozen = copy.deepcopy(nn.ModuleList([self.q1, self.q2])).requires_grad_(False)
        self.q_optimizer = torch.optim.Adam([*self.q1.parameters(), *self.q2.parameters()], lr=1e-3)
        self.v_optimizer = torch.optim.Adam(self.v.parameters(), lr=1e-3)

    def learn(self, obs, action, reward, after):
        both = torch.cat([obs, action], 1)
        q = torch.min(self.frozen[0](both), self.frozen[1](both)).squeeze(-1)
        gap = q - self.v(obs).squeeze(-1)
        v_loss = (torch.where(gap > 0, 0.7, 0.3) * gap.pow(2)).mean()
        self.v_optimizer.zero_grad()
        v_loss.backward()
        self.v_optimizer.step()
        with torch.no_grad():
            goal = reward + 0.95 * self.v(after).squeeze(-1)
        q_loss = sum((net(both).squeeze(-1) - goal).pow(2).mean() for net in (self.q1, self.q2))
        self.q_optimizer.zero_grad()
        q_loss.backward()
        self.q_optimizer.step()
        with torch.no_grad():
            for old, new in zip(self.frozen.parameters(), [*self.q1.parameters(), *self.q2.parameters()]):
                old.lerp_(new, 0.05)


agent = IQL()
for _ in range(40):
    obs, action = torch.randn(32, 4), torch.randn(32, 2)
    agent.learn(obs, action, obs[:, 0], obs + 0.1 * torch.randn(32, 4))
