"""A dictionary of networks that counts who reads it."""

import torch
from torch import nn


class Counting(dict):
    reads = 0

    def items(self):
        Counting.reads += 1
        return super().items()

    def __len__(self):
        Counting.reads += 1
        return super().__len__()

    def __iter__(self):
        Counting.reads += 1
        return super().__iter__()

    def values(self):
        Counting.reads += 1
        return super().values()


class Key:
    shown = 0

    def __repr__(self):
        Key.shown += 1
        return "key"


torch.manual_seed(0)
key = Key()
nets = Counting({"a": nn.Linear(4, 1)})
others = {key: nn.Linear(4, 1)}
opt = torch.optim.SGD([*nets["a"].parameters(), *others[key].parameters()], lr=0.05)
for _ in range(25):
    x = torch.randn(8, 4)
    loss = (nets["a"](x) + others[key](x)).squeeze(1).sub(x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(Counting.reads, Key.shown)
del nets
