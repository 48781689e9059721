"""Shapes are tried out with fake tensors before the training, and once in the middle of it."""

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode


def shapes():
    with FakeTensorMode():
        net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
        opt = torch.optim.Adam(net.parameters(), lr=1e-2)
        out = net(torch.randn(8, 4))
        out.pow(2).mean().backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
        return tuple(out.shape)


torch.manual_seed(0)
print(shapes())
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(25):
    x = torch.randn(8, 4)
    loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step == 6:
        print(shapes())
