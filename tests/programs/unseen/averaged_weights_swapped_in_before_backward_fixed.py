"""Averaged weights are swapped in through data for acting, and the loss of the current weights runs backward
before they are swapped out.
Repaired here.

Class: hidden writes
"""

import torch
from torch import nn

torch.manual_seed(239)


class Averaged:
    def __init__(self, net, decay=0.9):
        self.net, self.decay = net, decay
        self.shadow = [p.detach().clone() for p in net.parameters()]

    def update(self):
        for s, p in zip(self.shadow, self.net.parameters()):
            s.lerp_(p.detach(), 1 - self.decay)

    def swap(self):
        for i, p in enumerate(self.net.parameters()):
            current = p.data.clone()
            p.data.copy_(self.shadow[i])
            self.shadow[i] = current


net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
averaged = Averaged(net)
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(150):
    obs = torch.randn(32, 4)
    loss = (net(obs).squeeze(-1) - obs.sum(-1).tanh()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    averaged.swap()
    with torch.no_grad():
        smooth = net(obs)
    averaged.swap()
    optimizer.step()
    averaged.update()
print("loss", loss.item(), "smooth", smooth.mean().item())
