"""Saved tensors are packed and unpacked by hooks that count."""

import torch
from torch import nn

counts = {"pack": 0, "unpack": 0}


def pack(t):
    counts["pack"] += 1
    return t


def unpack(t):
    counts["unpack"] += 1
    return t


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(25):
    x = torch.randn(8, 4)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(counts)
