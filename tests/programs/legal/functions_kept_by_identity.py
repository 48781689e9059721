"""A table of functions by identity, made before and read while training."""

import torch
from torch import nn

NAMES = {torch.autograd.backward: "backward", nn.utils.clip_grad_norm_: "clip", torch.autograd.grad: "grad"}
torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(25):
    x = torch.randn(8, 4)
    loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    torch.autograd.backward(loss)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    assert NAMES[torch.autograd.backward] == "backward" and NAMES[nn.utils.clip_grad_norm_] == "clip"
print(sorted(NAMES.values()))
