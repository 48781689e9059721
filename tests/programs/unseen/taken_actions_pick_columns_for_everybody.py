"""An offline agent indexes the taken actions with a slice and a list: every row gets every other row's action.

Round 4
Class: axes
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(411)


class OfflineQ:
    def __init__(self):
        self.q = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 4))
        self.target = copy.deepcopy(self.q).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=1e-3)
        self.updates = 0

    def loss(self, obs, action, reward, after, done):
        values = self.q(obs)
        taken = values[:, action]  # BUG GS601
        goal = reward + 0.99 * (1 - done) * self.target(after).max(1).values
        conservative = torch.logsumexp(values, 1).mean() - taken.mean()
        return F.smooth_l1_loss(taken, goal.expand_as(taken)) + 0.5 * conservative

    def learn(self, batch):
        loss = self.loss(*batch)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates % 10 == 0:
            self.target.load_state_dict(self.q.state_dict())


agent = OfflineQ()
data = torch.randn(512, 6)
for _ in range(50):
    i = torch.randint(511, (24,))
    action = torch.randint(4, (24,))
    agent.learn((data[i], action, data[i, 0] * (action == 1), data[i + 1], (torch.rand(24) < 0.05).float()))
