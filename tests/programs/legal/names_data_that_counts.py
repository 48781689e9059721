"""Sequences of the user's own go into `torch.tensor`: they are read once."""

import random

import numpy as np
import torch
from torch import nn


class Rewards(list):
    reads = 0

    def __iter__(self):
        Rewards.reads += 1
        return super().__iter__()

    def __getitem__(self, index):
        Rewards.reads += 1
        return super().__getitem__(index)


class Frame(np.ndarray):
    reads = 0

    @property
    def __array_interface__(self):
        Frame.reads += 1
        return np.ndarray.__array_interface__.__get__(self)

    def tolist(self):
        Frame.reads += 1
        return super().tolist()


class Reading(float):
    reads = 0

    def tolist(self):
        Reading.reads += 1
        return float(self)

    def item(self):
        Reading.reads += 1
        return float(self)

    @property
    def shape(self):
        Reading.reads += 1
        return ()


torch.manual_seed(0)
random.seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(25):
    x = torch.randn(8, 4)
    v = net(x).squeeze(1)
    baseline = v.mean().item()
    rewards = torch.tensor(Rewards([random.random() for _ in range(8)]))
    frame = torch.as_tensor(np.full(8, 0.5, np.float32).view(Frame))
    loss = (v - rewards - frame).pow(2).mean() * Reading(0.7)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(Rewards.reads, Frame.reads, Reading.reads)
del frame, rewards
