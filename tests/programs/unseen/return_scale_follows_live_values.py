"""The running mean by which values are shown is updated with the value network's live output.

Round 2
Class: stays alive
"""

import torch
from torch import nn

torch.manual_seed(220)


class RunningMean:
    def __init__(self, rate=0.05):
        self.rate, self.mean = rate, torch.zeros(())

    def update(self, batch):
        self.mean = self.mean + self.rate * (batch.mean() - self.mean)  # BUG GS305
        return self.mean


class ValueLearner:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 1))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=1e-2)
        self.shown = RunningMean()

    def learn(self, obs, returns):
        value = self.net(obs).squeeze(-1)
        loss = (value - returns).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.shown.update(value)  # BUG GS305
        return loss.item()


learner = ValueLearner()
for _ in range(150):
    obs = torch.randn(32, 3)
    learner.learn(obs, obs.sum(-1))
