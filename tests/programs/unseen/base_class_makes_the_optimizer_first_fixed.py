"""The base class makes the optimizer in its constructor; the subclass adds its head afterwards.
Repaired here.

Round 7
Class: the line
"""

import torch
from torch import nn


class BaseAgent(nn.Module):
    def __init__(self, lr):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(5, 32), nn.ReLU())
        self.optimizer = torch.optim.Adam(self.parameters(), lr=lr)

    def learn(self, obs, goal):
        loss = (self(obs) - goal).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class ValueAgent(BaseAgent):
    def __init__(self):
        super().__init__(1e-3)
        self.head = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1))
        self.optimizer.add_param_group({"params": self.head.parameters()})

    def forward(self, obs):
        return self.head(self.encoder(obs)).squeeze(-1)


torch.manual_seed(713)
agent = ValueAgent()
for _ in range(40):
    obs = torch.randn(32, 5)
    agent.learn(obs, obs[:, 0].abs())
