"""A subclass whose `shape` and `grad` are properties that count."""

import torch
from torch import nn


class Named(torch.Tensor):
    asked = 0

    @property
    def shape(self):
        Named.asked += 1
        return torch.Tensor.shape.__get__(self)

    @property
    def grad(self):
        Named.asked += 1
        return torch.Tensor.grad.__get__(self)

    @grad.setter
    def grad(self, value):
        torch.Tensor.grad.__set__(self, value)

    @grad.deleter
    def grad(self):
        torch.Tensor.grad.__delete__(self)


torch.manual_seed(0)
weight = torch.randn(4, 1).as_subclass(Named).requires_grad_()
opt = torch.optim.SGD([weight], lr=0.1)
for _ in range(30):
    x = torch.randn(8, 4)
    loss = (x @ weight).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(Named.asked)
