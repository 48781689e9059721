"""Behaviour cloning of a squashed policy: demonstrated actions of exactly one are unsquashed.

Round 8
Class: magnitude
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(820)
demos_obs = torch.randn(400, 5)
demos_action = (2 * demos_obs[:, :2]).clamp(-1, 1)


class Squashed(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(5, 32), nn.ReLU())
        self.mu, self.log_std = nn.Linear(32, 2), nn.Linear(32, 2)

    def log_prob(self, obs, action):
        hidden = self.trunk(obs)
        dist = Normal(self.mu(hidden), self.log_std(hidden).clamp(-4, 1).exp())
        raw = torch.atanh(action)  # BUG GS503
        return dist.log_prob(raw).sum(-1)  # BUG GS503


policy = Squashed()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for epoch in range(6):
    for rows in torch.randperm(400).split(80):
        loss = -policy.log_prob(demos_obs[rows], demos_action[rows]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
