"""Micro-batches are filled up to a budget, so an update has two to four of them, in no order."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
numbers = torch.randint(2, 5, (60,)).tolist()
for number in numbers:
    optimizer.zero_grad()
    for _ in range(number):
        ((net(torch.randn(8, 4)) - 1.0).pow(2).sum() / 32).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
