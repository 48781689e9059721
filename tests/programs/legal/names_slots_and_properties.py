"""Objects with slots, properties that compute, and descriptors, around the networks."""

import torch
from torch import nn


class Slotted:
    __slots__ = ("__weakref__", "net")

    def __init__(self, net):
        self.net = net


class Lazily:
    computed = 0

    def __init__(self, net):
        self._net = net

    @property
    def net(self):
        Lazily.computed += 1
        return self._net

    @property
    def expensive(self):
        Lazily.computed += 1
        return torch.rand(1)


torch.manual_seed(0)
slotted, lazily = Slotted(nn.Linear(4, 1)), Lazily(nn.Linear(4, 1))
opt = torch.optim.SGD([*slotted.net.parameters(), *lazily._net.parameters()], lr=0.05)
for _ in range(25):
    x = torch.randn(8, 4)
    loss = (slotted.net(x) + lazily._net(x)).squeeze(1).sub(x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(Lazily.computed, float(torch.rand(1)))
