"""A mixture of experts keeps a running mean of its gates, with the graph, and balances them by it.
Repaired here.

Round 6
Class: stays alive
"""

import torch
from torch import nn

torch.manual_seed(608)


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(6, 3)
        self.experts = nn.ModuleList([nn.Linear(6, 1) for _ in range(3)])
        self.load = torch.full((3,), 1 / 3)

    def forward(self, obs):
        gates = torch.softmax(self.gate(obs), -1)
        self.load = 0.9 * self.load.detach() + 0.1 * gates.mean(0)
        out = torch.cat([expert(obs) for expert in self.experts], -1)
        return (gates * out).sum(-1), (self.load * self.load.log()).sum()


mixture = Mixture()
optimizer = torch.optim.Adam(mixture.parameters(), lr=1e-3)
for _ in range(40):
    obs = torch.randn(32, 6)
    value, balance = mixture(obs)
    loss = (value - obs[:, 0]).pow(2).mean() + 0.01 * balance
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
