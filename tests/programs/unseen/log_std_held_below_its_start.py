"""The log of the spread starts at zero and is clamped to a range that ends below it.

Round 3
Class: zero in part
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(304)
LIMITS = {"low": -5.0, "high": -0.5}


class Policy(nn.Module):
    def __init__(self, obs_dim, act_dim, limits):
        super().__init__()
        self.limits = limits
        self.mean = nn.Sequential(nn.Linear(obs_dim, 24), nn.Tanh(), nn.Linear(24, act_dim))
        self.log_std = nn.Parameter(torch.zeros(act_dim))  # BUG GS208

    def forward(self, obs):
        log_std = self.log_std.clamp(self.limits["low"], self.limits["high"])  # BUG GS208
        return Normal(self.mean(obs), log_std.exp().expand(obs.shape[0], -1))


policy = Policy(4, 2, LIMITS)
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
for _ in range(60):
    obs = torch.randn(64, 4)
    dist = policy(obs)
    action = dist.sample()
    reward = -(action - obs[:, :2]).pow(2).sum(-1)
    advantage = (reward - reward.mean()) / reward.std()
    loss = -(dist.log_prob(action).sum(-1) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
