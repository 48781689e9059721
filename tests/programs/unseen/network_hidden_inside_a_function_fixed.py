"""A function calls a network that is not among its inputs, and its backward knows of the input alone.
Repaired here.

Round 11
Class: custom functions
"""

import torch
from torch import nn

torch.manual_seed(1117)
inner = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 8))
encoder, head = nn.Linear(5, 8), nn.Linear(8, 1)


class Residual(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        with torch.enable_grad():
            leaf = x.detach().requires_grad_()
            out = leaf + inner(leaf)
        ctx.leaf, ctx.out = leaf, out
        return out.detach()

    @staticmethod
    def backward(ctx, grad):
        torch.autograd.backward(ctx.out, grad)
        return ctx.leaf.grad


optimizer = torch.optim.Adam([*encoder.parameters(), *inner.parameters(), *head.parameters()], lr=1e-3)
for update in range(50):
    obs = torch.randn(32, 5)
    value = head(Residual.apply(encoder(obs))).squeeze(-1)
    loss = (value - obs[:, 0] * obs[:, 1]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
