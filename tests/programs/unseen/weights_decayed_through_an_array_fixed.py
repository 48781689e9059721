"""Weight decay is done on an array that shares the weights' memory, before the loss is differentiated.
Repaired here.

Round 7
Class: hidden writes
"""

import torch
from torch import nn

torch.manual_seed(709)

critic = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
arrays = [p.detach().numpy() for p in critic.parameters()]
optimizer = torch.optim.SGD(critic.parameters(), lr=1e-2)


def decay(rate):
    for array in arrays:
        array *= 1 - rate


for _ in range(40):
    obs = torch.randn(32, 6)
    decay(0.05)
    loss = (critic(obs).squeeze(-1) - obs[:, 0]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
