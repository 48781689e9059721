"""Sharpness-aware minimisation: climb by hand, take the gradient there, climb down, step."""

import torch
from torch import nn

net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for i in range(30):
    x, y = torch.randn(16, 4), torch.randn(16, 1)
    (net(x) - y).pow(2).mean().backward()
    norm = torch.stack([p.grad.norm() for p in net.parameters()]).norm()
    es = []
    with torch.no_grad():
        for p in net.parameters():
            e = 0.05 * p.grad / norm
            p.add_(e)
            es.append(e)
    opt.zero_grad()
    (net(x) - y).pow(2).mean().backward()
    with torch.no_grad():
        for p, e in zip(net.parameters(), es):
            p.sub_(e)
    opt.step()
    opt.zero_grad()
