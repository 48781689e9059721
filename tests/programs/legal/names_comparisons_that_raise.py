"""Objects that refuse comparison, truth, hashing and length."""

import torch
from torch import nn


class Prickly:
    __hash__ = None

    def __eq__(self, other):
        raise RuntimeError("no comparison")

    def __bool__(self):
        raise RuntimeError("no truth")

    def __len__(self):
        raise RuntimeError("no length")

    def __iter__(self):
        raise RuntimeError("no iteration")


class Meta(type):
    asked = 0

    @property
    def __module__(cls):
        Meta.asked += 1
        return "torch.fake"

    def __instancecheck__(cls, instance):
        Meta.asked += 1
        return False


class Odd(metaclass=Meta):
    pass


torch.manual_seed(0)
prickly, odd = Prickly(), Odd()
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(25):
    x = torch.randn(8, 4)
    loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(Meta.asked)
del prickly, odd
