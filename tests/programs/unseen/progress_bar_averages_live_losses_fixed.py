"""The number that the progress bar shows is a running average of the loss itself.
Repaired here.

Round 3
Class: stays alive
"""

import torch
from torch import nn

torch.manual_seed(307)


class Bar:
    def __init__(self):
        self.shown = {}

    def update(self, **numbers):
        for name, number in numbers.items():
            old = self.shown.get(name, number)
            self.shown[name] = 0.95 * old + 0.05 * number


net = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
bar = Bar()
for step in range(150):
    obs = torch.randn(32, 4)
    loss = nn.functional.cross_entropy(net(obs), obs[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    bar.update(loss=loss.item())
