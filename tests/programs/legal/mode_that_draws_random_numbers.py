"""Dropout for everything: the mode draws a number at each kernel."""

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode


class Jitter(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if isinstance(out, torch.Tensor) and out.is_floating_point():
            noise.append(float(torch.rand((), generator=dice)))
        return out


noise, dice = [], torch.Generator().manual_seed(1)
torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(25):
    x = torch.randn(8, 4)
    with Jitter():
        loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
        loss.backward()
    opt.step()
    opt.zero_grad()
print(len(noise), noise[-1])
