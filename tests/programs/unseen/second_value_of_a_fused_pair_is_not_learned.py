"""Two values out of one function: its backward forgets what comes back for the second.

Round 10
Class: custom functions
"""

import torch
from torch import nn

torch.manual_seed(1018)


class TwinHead(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hidden, one, two):
        ctx.save_for_backward(hidden, one, two)
        return hidden @ one, hidden @ two

    @staticmethod
    def backward(ctx, grad_one, grad_two):  # BUG GS211
        hidden, one, _ = ctx.saved_tensors
        back = grad_one[:, None] * one
        return back, hidden.t() @ grad_one, hidden.t() @ grad_one  # BUG GS211


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 32), nn.ReLU())
        self.one, self.two = nn.Parameter(torch.randn(32) * 0.1), nn.Parameter(torch.randn(32) * 0.1)

    def forward(self, x):
        return TwinHead.apply(self.body(x), self.one, self.two)  # BUG GS211


critic = Critic()
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for update in range(40):
    x = torch.randn(32, 6)
    one, two = critic(x)
    loss = (one - x[:, 0]).pow(2).mean() + (two - x[:, 0]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
