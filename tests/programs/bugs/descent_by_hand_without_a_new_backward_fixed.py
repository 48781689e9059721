"""Plain descent without an optimizer: an inner loop applies one gradient several times."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
for update in range(20):
    obs = torch.randn(16, 4)
    net.zero_grad()
    for epoch in range(3):
        net.zero_grad()
        loss = (net(obs).squeeze(-1) - obs.sum(-1)).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            for p in net.parameters():
                p -= 0.05 * p.grad
