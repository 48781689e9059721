"""A function of an input and a number returns its gradient in the place of the number.
Repaired here.

Round 10
Class: custom functions
"""

import torch
from torch import nn

torch.manual_seed(1017)


class Temper(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, temperature):
        ctx.temperature = temperature
        return x / temperature

    @staticmethod
    def backward(ctx, grad):
        return grad / ctx.temperature, None


policy = nn.Linear(5, 3)
optimizer = torch.optim.SGD(policy.parameters(), lr=1e-2)
for update in range(20):
    obs = torch.randn(32, 5)
    dist = torch.distributions.Categorical(logits=Temper.apply(policy(obs), 0.7))
    action = dist.sample()
    loss = -(dist.log_prob(action) * obs[:, 0]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
