"""Two losses share a trunk; conflicting gradients are projected and written back in place."""

import torch
from torch import nn

trunk, a, b = nn.Linear(4, 8), nn.Linear(8, 2), nn.Linear(8, 1)
ps = list(trunk.parameters())
opt = torch.optim.Adam([*ps, *a.parameters(), *b.parameters()])
for i in range(40):
    x = torch.randn(16, 4)
    h = torch.tanh(trunk(x))
    opt.zero_grad()
    a(h).pow(2).mean().backward(retain_graph=True)
    ga = [p.grad.clone() for p in ps]
    for p in ps:
        p.grad.zero_()
    (b(h) - 1).pow(2).mean().backward()
    for p, g in zip(ps, ga):
        d = (g * p.grad).sum()
        if d < 0:
            g = g - d / p.grad.pow(2).sum() * p.grad
        p.grad.copy_(p.grad + g)
    opt.step()
