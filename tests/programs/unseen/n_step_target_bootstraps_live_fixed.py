"""An n-step target of the network's own values is differentiated through.
Repaired here.

Round 7
Class: weights
"""

import torch
from torch import nn

torch.manual_seed(708)


class NStep:
    def __init__(self):
        self.v = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
        self.optimizer = torch.optim.Adam(self.v.parameters(), lr=1e-3)

    def targets(self, rewards, last):
        total, found = self.v(last).squeeze(-1), []
        for reward in reversed(rewards):
            total = reward + 0.9 * total
            found.append(total)
        return torch.stack(found[::-1]).detach()

    def learn(self, obs, rewards, last):
        goal = self.targets(rewards, last)
        loss = (self.v(obs).squeeze(-1) - goal).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


agent = NStep()
for _ in range(40):
    obs = torch.randn(5, 16, 4)
    agent.learn(obs, list(obs[..., 0]), torch.randn(16, 4))
