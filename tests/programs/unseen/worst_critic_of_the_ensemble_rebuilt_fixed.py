"""Every sixty updates the worst member of an ensemble is built anew; the optimizer keeps the old one.
Repaired here.

Round 2
Class: late and rare
"""

import torch
from torch import nn

torch.manual_seed(225)


def make_member():
    return nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 1))


class Ensemble:
    def __init__(self, size=4):
        self.members = nn.ModuleList(make_member() for _ in range(size))
        self.optimizer = self.make_optimizer()

    def make_optimizer(self):
        return torch.optim.Adam(self.members.parameters(), lr=2e-3)

    def losses(self, obs, goal):
        return torch.stack([(m(obs).squeeze(-1) - goal).pow(2).mean() for m in self.members])

    def update(self, obs, goal):
        losses = self.losses(obs, goal)
        self.optimizer.zero_grad()
        losses.sum().backward()
        self.optimizer.step()
        return losses.detach()

    def replace_worst(self, losses):
        self.members[int(losses.argmax())] = make_member()
        self.optimizer = self.make_optimizer()


ensemble = Ensemble()
for step in range(1, 200):
    obs = torch.randn(32, 5)
    losses = ensemble.update(obs, obs.sin().sum(-1))
    if step % 60 == 0:
        ensemble.replace_worst(losses)
