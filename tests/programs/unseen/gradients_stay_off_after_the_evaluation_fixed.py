"""The evaluation switches gradients off for good: the next update has nothing to differentiate.
Repaired here.

Round 10
Class: late and rare
"""

import torch
from torch import nn

torch.manual_seed(1012)


class Trainer:
    def __init__(self):
        self.q = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 3))
        self.opt = torch.optim.Adam(self.q.parameters(), lr=1e-3)

    def evaluate(self):
        with torch.no_grad():
            return self.q(torch.randn(200, 5)).amax(1).mean().item()

    def update(self):
        obs, action = torch.randn(32, 5), torch.randint(3, (32, 1))
        value = self.q(obs).gather(1, action).squeeze(1)
        loss = (value - obs[:, 0]).pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


trainer = Trainer()
for step in range(100):
    trainer.update()
    if step == 60:
        trainer.evaluate()
