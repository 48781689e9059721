"""An evaluation that exports, in the middle of the training."""

# fresh
import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.log_std = nn.Parameter(torch.zeros(2))
        self.mean = nn.Linear(8, 2)

    def forward(self, x):
        mean = self.mean(torch.tanh(self.body(x)))
        return mean, self.log_std.exp().expand_as(mean)


torch.manual_seed(0)
net = Policy()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(8):
    x = torch.randn(8, 4)
    dist = torch.distributions.Normal(*net(x))
    action = dist.sample()
    loss = -(dist.log_prob(action).sum(1) * torch.randn(8)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step == 4:
        program = torch.export.export(net, (torch.randn(8, 4),), strict=True)
        print([str(node.target) for node in program.graph.nodes])
