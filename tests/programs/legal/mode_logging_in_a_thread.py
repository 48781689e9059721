"""A user's modes on another thread than the main one."""

import threading

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode


class Counting(TorchDispatchMode):
    calls = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        Counting.calls += 1
        return func(*args, **(kwargs or {}))


def train():
    global loss
    with Counting():
        for _ in range(20):
            x = torch.randn(8, 4)
            loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()


torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=1e-2)
thread = threading.Thread(target=train)
thread.start()
thread.join()
print(Counting.calls, float(loss))
