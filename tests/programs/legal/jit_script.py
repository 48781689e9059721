"""Scripted functions and modules, with a loss in the script."""

import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")


@torch.jit.script
def huber(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    d = (a - b).abs()
    return torch.where(d < 1.0, 0.5 * d * d, d - 0.5).mean()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 8), nn.Linear(8, 1)

    def forward(self, x):
        return self.b(torch.relu(self.a(x))).squeeze(1)


torch.manual_seed(0)
net = torch.jit.script(Net())
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(25):
    x = torch.randn(8, 4)
    loss = huber(net(x), x.sum(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(net.code, float(loss))
