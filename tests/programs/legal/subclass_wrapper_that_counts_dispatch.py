"""A wrapper subclass with `__torch_dispatch__`: it sees every kernel."""

import torch
from torch import nn
from torch.utils._pytree import tree_map


class Wrapped(torch.Tensor):
    calls = 0

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(
            cls,
            inner.size(),
            strides=inner.stride(),
            dtype=inner.dtype,
            device=inner.device,
            requires_grad=inner.requires_grad,
        )

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        Wrapped.calls += 1
        unwrap = lambda t: t.inner if isinstance(t, Wrapped) else t
        out = func(*tree_map(unwrap, args), **tree_map(unwrap, kwargs or {}))
        return tree_map(lambda t: Wrapped(t) if isinstance(t, torch.Tensor) else t, out)


torch.manual_seed(0)
weight = nn.Parameter(Wrapped(torch.randn(4, 1)))
opt = torch.optim.SGD([weight], lr=0.05, foreach=False)
for _ in range(30):
    x = torch.randn(8, 4)
    loss = (Wrapped(x) @ weight - Wrapped(x.sum(1, keepdim=True))).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(Wrapped.calls, float(weight.detach().inner.sum()))
