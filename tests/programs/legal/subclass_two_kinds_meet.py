"""Two subclasses meet in one operation, and one of them refuses some functions."""

import torch
from torch import nn


class Metres(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func in (
            torch.Tensor.item,
            torch.Tensor.detach,
            torch.Tensor.clone,
            torch.isfinite,
            torch.Tensor.any,
        ):
            raise TypeError("metres are not for that")
        return super().__torch_function__(func, types, args, kwargs or {})


class Seconds(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))


torch.manual_seed(0)
net = nn.Linear(4, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(30):
    x, y = torch.randn(8, 4).as_subclass(Metres), torch.randn(8, 4).as_subclass(Seconds)
    loss = (net(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(type(loss).__name__)
