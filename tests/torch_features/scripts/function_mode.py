# finds: GS202
import torch
from torch import nn
from torch.overrides import TorchFunctionMode


class Count(TorchFunctionMode):
    calls = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        Count.calls += 1
        return func(*args, **(kwargs or {}))


body, head = nn.Linear(3, 8), nn.Linear(8, 1)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.05)
for _ in range(30):
    x = torch.randn(8, 3)
    with Count():
        h = torch.tanh(body(x))
        #! h = torch.tanh(body(x)).detach()
    loss = (head(h).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    with Count():
        opt.step()
calls = Count.calls > 0
