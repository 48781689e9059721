"""A normaliser of curiosity bonuses mixes live errors into its running mean, and the next loss is divided
by it.

Class: stays alive
"""

import torch
from torch import nn

torch.manual_seed(109)


class RunningScale:
    def __init__(self, rate=0.05):
        self.scale, self.rate = torch.ones(()), rate

    def update(self, x):
        self.scale = (1 - self.rate) * self.scale + self.rate * x.mean()  # BUG GS305 GS402

    def __call__(self, x):
        return x / (self.scale + 1e-6)


class Curiosity(nn.Module):
    def __init__(self):
        super().__init__()
        self.fixed = nn.Linear(5, 8).requires_grad_(False)
        self.learned = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 8))

    def forward(self, obs):
        return (self.learned(obs) - self.fixed(obs)).pow(2).mean(-1)


curiosity, scale = Curiosity(), RunningScale()
optimizer = torch.optim.Adam(curiosity.learned.parameters(), lr=1e-3)
for step in range(100):
    bonus = curiosity(torch.randn(32, 5))
    scale.update(bonus)
    loss = scale(bonus).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("bonus", bonus.mean().item())
