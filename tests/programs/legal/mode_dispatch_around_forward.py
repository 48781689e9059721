"""A dispatch mode around the forward pass and another around the backward pass."""

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

seen = []


class Logging(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        seen.append(str(func))
        return func(*args, **(kwargs or {}))


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-2, momentum=0.9)
for _ in range(25):
    x = torch.randn(8, 4)
    with Logging():
        loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    with Logging():
        loss.backward()
    opt.step()
print(len(seen), seen[-12:])
