"""The parameters themselves are of a subclass that counts."""

import torch
from torch import nn


class Weight(nn.Parameter):
    seen = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.seen.append(getattr(func, "__name__", str(func)))
        return super().__torch_function__(func, types, args, kwargs or {})


torch.manual_seed(0)
weight = Weight(torch.randn(4, 1))
opt = torch.optim.Adam([weight], lr=0.1)
for _ in range(30):
    x = torch.randn(8, 4)
    loss = (x @ weight - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_([weight], 1.0)
    opt.step()
print(len(Weight.seen), sorted(set(Weight.seen)))
