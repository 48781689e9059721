"""The trainer smooths its errors for the log with gradients on: each number keeps the one before.

Round 11
Class: stays alive
"""

import torch
from torch import nn

torch.manual_seed(1108)


class Trainer:
    def __init__(self):
        self.critic = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
        self.optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.metrics = {"error": torch.zeros(()), "value": torch.zeros(())}

    def note(self, name, number):
        self.metrics[name] = 0.95 * self.metrics[name] + 0.05 * number  # BUG GS305

    def update(self, obs, returns):
        value = self.critic(obs).squeeze(-1)
        error = value - returns
        self.note("error", error.abs().mean())  # BUG GS305
        self.note("value", value.mean().detach())
        self.optimizer.zero_grad()
        error.pow(2).mean().backward()
        self.optimizer.step()


trainer = Trainer()
for _ in range(120):
    obs = torch.randn(32, 5)
    trainer.update(obs, obs.sum(-1))
