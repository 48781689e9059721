"""Gaussian policy whose state-independent log-std is clamped in place in forward."""

import torch
from torch import nn

torch.manual_seed(0)


class GaussianPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Linear(4, 2)
        self.log_std = nn.Parameter(torch.zeros(2))

    def forward(self, obs):
        self.log_std.clamp_(-5.0, 2.0)  # BUG GS103
        return torch.distributions.Normal(self.mean(obs), self.log_std.exp())


policy = GaussianPolicy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for _ in range(10):
    obs, advantage = torch.randn(16, 4), torch.randn(16)
    dist = policy(obs)
    action = dist.sample()
    loss = -(dist.log_prob(action).sum(-1) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
