"""A helper detaches its second argument; one caller hands the prediction second.
Repaired here.

Round 6
Class: the line
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(616)


def td_loss(prediction, target):
    return F.smooth_l1_loss(prediction, target.detach())


class Twin:
    def __init__(self):
        self.first, self.second = nn.Linear(5, 1), nn.Linear(5, 1)
        self.old = copy.deepcopy(self.first).requires_grad_(False)
        both = [*self.first.parameters(), *self.second.parameters()]
        self.optimizer = torch.optim.Adam(both, lr=1e-3)

    def learn(self, obs, reward, after):
        goal = reward + 0.9 * self.old(after)
        loss = td_loss(self.first(obs), goal) + td_loss(self.second(obs), goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            for old, new in zip(self.old.parameters(), self.first.parameters()):
                old.lerp_(new, 0.05)


agent = Twin()
for _ in range(60):
    obs = torch.randn(32, 5)
    agent.learn(obs, obs[:, :1], obs + 0.1 * torch.randn(32, 5))
