"""Noise is drawn at every call: one call more and the run is another."""

import torch
from torch import nn


class Noisy(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        torch.rand(())
        return super().__torch_function__(func, types, args, kwargs or {})


torch.manual_seed(0)
net = nn.Linear(4, 1)
weight = nn.Parameter(torch.ones(4).as_subclass(Noisy))
opt = torch.optim.SGD([*net.parameters(), weight], lr=0.05)
for _ in range(30):
    x = torch.randn(8, 4).as_subclass(Noisy)
    loss = (net(x * weight).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(float(loss), float(torch.rand(())))
