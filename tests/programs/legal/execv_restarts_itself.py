"""The program replaces itself by another one after a checkpoint."""

import os
import sys

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(15):
    x = torch.randn(8, 4)
    loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(float(loss), flush=True)
os.execv(sys.executable, [sys.executable, "-c", "print('a new life')"])
