"""The policy is exported at the end; its graph must hold the user's operations only."""

# fresh
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(5):
    x = torch.randn(8, 4)
    loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
program = torch.export.export(net, (torch.randn(8, 4),))
print([str(node.target) for node in program.graph.nodes])
