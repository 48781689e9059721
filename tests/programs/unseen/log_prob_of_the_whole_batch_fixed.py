"""The log-probability of a continuous action is summed over the joints and the batch at once.
Repaired here.

Round 2
Class: axes
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(217)


class Actor(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, act_dim))
        self.log_std = nn.Parameter(-0.5 * torch.ones(act_dim))

    def act(self, obs):
        dist = Normal(self.net(obs), self.log_std.exp())
        action = dist.sample()
        return action, dist.log_prob(action).sum(-1)


actor = Actor(4, 2)
baseline = nn.Linear(4, 1)
optimizer = torch.optim.Adam([*actor.parameters(), *baseline.parameters()], lr=2e-3)
for step in range(50):
    obs = torch.randn(64, 4)
    action, log_prob = actor.act(obs)
    reward = -(action - obs[:, :2]).pow(2).sum(-1)
    value = baseline(obs).squeeze(-1)
    advantage = (reward - value).detach()
    policy_loss = -(log_prob * advantage).mean()
    value_loss = (reward - value).pow(2).mean()
    optimizer.zero_grad()
    (policy_loss + value_loss).backward()
    optimizer.step()
