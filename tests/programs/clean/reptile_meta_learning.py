"""Reptile: an inner optimizer on a copy, the outer gradient is the difference."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
meta = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
outer = torch.optim.SGD(meta.parameters(), lr=0.1)
for _ in range(6):
    fast = copy.deepcopy(meta)
    inner = torch.optim.SGD(fast.parameters(), lr=0.02)
    for _ in range(3):
        inner.zero_grad()
        nn.functional.mse_loss(fast(torch.randn(16, 3)), torch.randn(16, 1)).backward()
        inner.step()
    outer.zero_grad()
    for slow, quick in zip(meta.parameters(), fast.parameters()):
        slow.grad = slow.data - quick.data
    outer.step()
