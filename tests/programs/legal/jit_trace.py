"""A traced network is trained and compared with its original."""

import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-2)
for step in range(10):
    traced = torch.jit.trace(net, torch.randn(8, 4))
    x = torch.randn(8, 4)
    loss = (traced(x).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print([node.kind() for node in traced.inlined_graph.nodes()])
