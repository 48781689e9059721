"""Parameters handed over by iterables of the user's own, which can be read once."""

import torch
from torch import nn


class Once:
    opened = 0

    def __init__(self, items):
        self.items = items

    def __iter__(self):
        Once.opened += 1
        yield from self.items


torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(Once(list(net.parameters())), lr=0.05)
for _ in range(25):
    x = torch.randn(8, 4)
    loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    torch.autograd.backward(loss, inputs=list(net.parameters()))
    norm = nn.utils.clip_grad_norm_(Once(list(net.parameters())), 1.0)
    opt.step()
print(Once.opened, float(norm))
