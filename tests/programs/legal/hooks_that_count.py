"""Hooks on tensors, nodes, modules and optimizers, each counting its calls."""

import torch
from torch import nn

calls = {"tensor": 0, "accumulated": 0, "module": 0, "step": 0, "node": 0}


def count(name):
    def hook(*args):
        calls[name] += 1

    return hook


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
net.register_forward_hook(count("module"))
opt.register_step_post_hook(count("step"))
for p in net.parameters():
    p.register_hook(count("tensor"))
    p.register_post_accumulate_grad_hook(count("accumulated"))
for _ in range(25):
    x = torch.randn(8, 4)
    loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    loss.grad_fn.register_hook(count("node"))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(calls)
del net, opt
