"""A straight-through code is marked as not differentiable by a copied line of its forward.
Repaired here.

Round 5
Class: custom functions
"""

import torch
from torch import nn

torch.manual_seed(515)


class Quantise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, levels):
        return torch.round(x * levels) / levels

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(6, 8)
        self.decode = nn.Linear(8, 6)
        self.value = nn.Linear(8, 1)

    def forward(self, obs):
        code = Quantise.apply(torch.sigmoid(self.encode(obs)), 8)
        return self.decode(code), self.value(code).squeeze(-1)


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
for update in range(40):
    obs = torch.randn(32, 6)
    again, value = agent(obs)
    loss = (again - obs).pow(2).mean() + (value - obs[:, 0]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
