"""A network that overrides `parameters`, `named_parameters` and `modules`, and counts."""

import torch
from torch import nn


class Net(nn.Module):
    asked = 0

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 8), nn.Linear(8, 1)

    def named_parameters(self, *args, **kwargs):
        Net.asked += 1
        return super().named_parameters(*args, **kwargs)

    def parameters(self, recurse=True):
        Net.asked += 1
        torch.rand(1)
        return super().parameters(recurse)

    def modules(self):
        Net.asked += 1
        return super().modules()

    def _named_members(self, *args, **kwargs):
        Net.asked += 1
        return super()._named_members(*args, **kwargs)

    def named_modules(self, *args, **kwargs):
        Net.asked += 1
        return super().named_modules(*args, **kwargs)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x))).squeeze(1)


torch.manual_seed(0)
net, frozen = Net(), Net()
frozen.requires_grad_(False)
frozen.load_state_dict(net.state_dict())
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(25):
    x = torch.randn(8, 4)
    loss = (net(x) - x.sum(1)).pow(2).mean()
    net.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
print(Net.asked, float(torch.rand(1)))
