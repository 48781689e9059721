"""PyTorch's profiler runs, and its own table is looked at."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
with torch.autograd.profiler.profile(use_cpu=True) as prof:
    for _ in range(5):
        x = torch.randn(8, 4)
        loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
print("aten::linear" in {e.key for e in prof.key_averages()})
del prof
