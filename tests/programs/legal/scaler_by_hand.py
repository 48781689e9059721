"""A loss scale by hand: the step is skipped where a gradient is not finite."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
scale = 2.0**128 / 4
for _ in range(40):
    x = torch.randn(16, 4)
    loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    (loss * scale).backward()
    for p in net.parameters():
        p.grad /= scale
    if all(torch.isfinite(p.grad).all() for p in net.parameters()):
        opt.step()
    else:
        scale /= 2
print(scale)
