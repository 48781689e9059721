"""The deviation of a Gaussian policy gets its epsilon in place, after the exponential that made it.
Repaired here.

Round 7
Class: forward errors
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(701)


class Gaussian(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.ReLU())
        self.mean, self.log_std = nn.Linear(32, 2), nn.Linear(32, 2)

    def forward(self, obs):
        hidden = self.body(obs)
        std = self.log_std(hidden).exp()
        std = std + 1e-3
        return Normal(self.mean(hidden), std)


policy = Gaussian()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for _ in range(20):
    obs = torch.randn(32, 4)
    dist = policy(obs)
    action = dist.sample()
    reward = -(action - obs[:, :2]).pow(2).sum(-1)
    loss = -(dist.log_prob(action).sum(-1) * (reward - reward.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
