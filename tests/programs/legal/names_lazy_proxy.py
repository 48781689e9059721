"""A lazy proxy: whoever asks for its class or attributes makes it load."""

import torch
from torch import nn


class Lazy:
    loads = 0

    def __init__(self, make):
        object.__setattr__(self, "make", make)

    @property
    def __class__(self):
        Lazy.loads += 1
        return nn.Linear

    @property
    def __dict__(self):
        Lazy.loads += 1
        return {}

    def __getattr__(self, name):
        Lazy.loads += 1
        raise AttributeError(name)


class Dynamic:
    asked = []

    def __getattribute__(self, name):
        Dynamic.asked.append(name)
        return object.__getattribute__(self, name)


torch.manual_seed(0)
lazy, dynamic = Lazy(nn.Linear), Dynamic()
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(25):
    x = torch.randn(8, 4)
    loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(Lazy.loads, Dynamic.asked)
del lazy, dynamic
