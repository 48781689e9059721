"""make_fx records kernels: forward and backward, and nothing of ours."""

import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx

torch.manual_seed(0)
net = nn.Linear(4, 1)


def gradient(x):
    loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    return torch.autograd.grad(loss, list(net.parameters()))


graph = make_fx(gradient)(torch.randn(8, 4))
print([str(node.target) for node in graph.graph.nodes])
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(20):
    opt.zero_grad()
    for p, g in zip(net.parameters(), graph(torch.randn(8, 4))):
        p.grad = g.clone()
    opt.step()
print(len(graph.graph.nodes))
