"""A fused dueling head computes value and advantages in one function, and its backward knows only the value.
Repaired here.

Round 6
Class: custom functions
"""

import torch
from torch import nn

torch.manual_seed(613)


class Dueling(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hidden, wv, wa):
        ctx.save_for_backward(hidden, wv, wa)
        return hidden @ wv, hidden @ wa

    @staticmethod
    def backward(ctx, for_value, for_advantage):
        hidden, wv, wa = ctx.saved_tensors
        back = for_value @ wv.T + for_advantage @ wa.T
        return back, hidden.T @ for_value, hidden.T @ for_advantage


class Q(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 24), nn.ReLU())
        self.wv = nn.Parameter(0.2 * torch.randn(24, 1))
        self.wa = nn.Parameter(0.2 * torch.randn(24, 3))

    def forward(self, obs):
        value, advantage = Dueling.apply(self.body(obs), self.wv, self.wa)
        return value + advantage - advantage.mean(1, keepdim=True)


q = Q()
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
for _ in range(40):
    obs, action = torch.randn(32, 4), torch.randint(3, (32, 1))
    loss = (q(obs).gather(1, action) - obs[:, :1] * (action - 1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
