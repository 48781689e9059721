"""Jacobians and Hessians of a network, between its updates."""

import torch
from torch import nn
from torch.func import functional_call, hessian, jacrev

torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(20):
    x = torch.randn(6, 3)
    params = {k: v.detach() for k, v in net.named_parameters()}
    h = hessian(lambda p: functional_call(net, p, (x,)).pow(2).mean())(params)
    j = jacrev(lambda p: functional_call(net, p, (x,)).mean())(params)
    loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(float(h["weight"]["weight"].sum()), float(j["bias"].sum()))
