"""PyTorch's own counter of floating point operations."""

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-2)
counter = FlopCounterMode(display=False)
with counter:
    for _ in range(20):
        x = torch.randn(8, 4)
        loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
print(counter.get_total_flops())
