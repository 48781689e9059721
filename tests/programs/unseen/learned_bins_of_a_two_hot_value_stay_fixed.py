"""A value as the mean of learned bins, in a function of its own: its backward has nothing for the bins.
Repaired here.

Round 8
Class: custom functions
"""

import torch
from torch import nn

torch.manual_seed(818)


class Expectation(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, bins):
        probs = logits.softmax(-1)
        value = (probs * bins).sum(-1, keepdim=True)
        ctx.save_for_backward(probs, bins, value)
        return value

    @staticmethod
    def backward(ctx, g):
        probs, bins, value = ctx.saved_tensors
        return g * probs * (bins - value), (g * probs).sum(0)


class DistributionalCritic(nn.Module):
    def __init__(self, atoms=11):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 32), nn.SiLU(), nn.Linear(32, atoms))
        self.bins = nn.Parameter(torch.linspace(-2.0, 2.0, atoms))

    def forward(self, obs):
        return Expectation.apply(self.layers(obs), self.bins).squeeze(-1)


critic = DistributionalCritic()
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for update in range(50):
    obs = torch.randn(32, 6)
    loss = (critic(obs) - 3 * obs[:, 0]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
