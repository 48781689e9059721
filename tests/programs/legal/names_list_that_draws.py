"""Looking for names must not iterate a list whose `__iter__` draws random numbers."""

import random

import torch
from torch import nn


class Shuffled(list):
    def __iter__(self):
        random.random()
        torch.rand(1)
        return super().__iter__()

    def __len__(self):
        random.random()
        return super().__len__()

    def __getitem__(self, index):
        random.random()
        return super().__getitem__(index)


random.seed(0)
torch.manual_seed(0)
nets = Shuffled([nn.Linear(4, 1), nn.Linear(4, 1)])
opt = torch.optim.SGD([p for net in nets for p in net.parameters()], lr=0.05)
for _ in range(25):
    x = torch.randn(8, 4)
    loss = sum((net(x).squeeze(1) - x.sum(1)).pow(2).mean() for net in nets)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(random.random(), float(torch.rand(1)))
