"""At a sync the two networks change places: from then on the optimizer trains the one that makes the targets.

Round 7
Class: late and rare
"""

import copy

import torch
from torch import nn

torch.manual_seed(707)


class Learner:
    def __init__(self):
        self.online = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
        self.target = copy.deepcopy(self.online)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)

    def sync(self):
        self.online, self.target = self.target, self.online  # BUG GS206 GS302 GS205 GS404

    def learn(self, obs, action, after):
        with torch.no_grad():
            goal = obs[:, :1] + 0.9 * self.target(after).amax(1, keepdim=True)
        loss = (self.online(obs).gather(1, action) - goal).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()  # BUG GS404 GS206


learner = Learner()
for update in range(100):
    learner.learn(torch.randn(32, 4), torch.randint(2, (32, 1)), torch.randn(32, 4))
    if update == 39:
        learner.sync()
