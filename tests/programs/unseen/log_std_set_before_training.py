"""The spread of a Gaussian policy is set to its start value in place, with autograd watching.

Round 2
Class: forward errors
"""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--init-log-std", type=float, default=-0.7)
parser.add_argument("--updates", type=int, default=20)
args, _ = parser.parse_known_args([])
torch.manual_seed(204)


class GaussianPolicy(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.mu = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, act_dim))
        self.log_std = nn.Parameter(torch.zeros(act_dim))

    def dist(self, obs):
        return torch.distributions.Normal(self.mu(obs), self.log_std.exp())


def prepare(policy, log_std):
    policy.log_std.fill_(log_std)  # BUG GS103
    return policy


policy = prepare(GaussianPolicy(5, 2), args.init_log_std)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for _ in range(args.updates):
    obs = torch.randn(64, 5)
    dist = policy.dist(obs)
    action = dist.sample()
    score = -(action - obs[:, :2]).pow(2).sum(-1)
    loss = -(dist.log_prob(action).sum(-1) * (score - score.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
