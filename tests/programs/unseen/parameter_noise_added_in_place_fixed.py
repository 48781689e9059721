"""Exploration by noise in the parameters: the perturbation writes into leaves that require grad.
Repaired here.

Round 8
Class: forward errors
"""

import torch
from torch import nn

torch.manual_seed(801)


class Explorer:
    def __init__(self, obs_size, actions):
        self.q = nn.Sequential(nn.Linear(obs_size, 32), nn.ReLU(), nn.Linear(32, actions))
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=1e-3)
        self.sigma = 0.02

    def learn(self, obs, action, target):
        value = self.q(obs).gather(1, action).squeeze(1)
        loss = nn.functional.smooth_l1_loss(value, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def perturb(self):
        for weight in self.q.parameters():
            weight += self.sigma * torch.randn_like(weight)


agent = Explorer(6, 3)
for update in range(60):
    obs = torch.randn(32, 6)
    agent.learn(obs, torch.randint(3, (32, 1)), obs[:, 0])
    if update % 10 == 9:
        agent.perturb()
