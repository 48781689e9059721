"""When the loss diverges the agent reloads its encoder as a new module; the optimizer keeps the old one.

Round 4
Class: late and rare
"""

import copy

import torch
from torch import nn

torch.manual_seed(416)


class Learner:
    def __init__(self):
        self.encoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
        self.head = nn.Linear(32, 1)
        self.optimizer = torch.optim.Adam([*self.encoder.parameters(), *self.head.parameters()], lr=1e-3)
        self.safe = copy.deepcopy(self.encoder)

    def restore(self):
        self.encoder = copy.deepcopy(self.safe)  # BUG GS206 GS205

    def learn(self, obs, target):
        loss = (self.head(self.encoder(obs)).squeeze(-1) - target).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


learner = Learner()
for update in range(100):
    obs = torch.randn(32, 8)
    spike = 50.0 if update == 40 else 1.0
    if learner.learn(obs, spike * obs[:, 0]) > 100:
        learner.restore()
