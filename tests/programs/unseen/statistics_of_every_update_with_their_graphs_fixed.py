"""A logger's dictionary collects the mean value of every update, with the graph behind it.
Repaired here.

Round 5
Class: stays alive
"""

from collections import defaultdict

import torch
from torch import nn

torch.manual_seed(509)


class Logger:
    def __init__(self):
        self.rows = defaultdict(list)

    def add(self, **numbers):
        for name, number in numbers.items():
            self.rows[name].append(number)


critic = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
logger = Logger()
for update in range(120):
    obs = torch.randn(64, 6)
    value = critic(obs).squeeze(-1)
    loss = (value - obs[:, 0]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    logger.add(loss=loss.item(), value=value.mean().item())
