"""A robot with as many joints as the minibatch has samples: a log-probability per joint is weighed by the advantages.

Round 8
Class: axes
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(807)
JOINTS = BATCH = 12


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, JOINTS))
        self.log_std = nn.Parameter(torch.zeros(JOINTS))

    def dist(self, obs):
        return Normal(self.mean(obs), self.log_std.exp())


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
for update in range(40):
    obs = torch.randn(BATCH, 10)
    with torch.no_grad():
        dist = policy.dist(obs)
        action = dist.sample()
        old = dist.log_prob(action)  # BUG GS603 GS601
        reward = -(action - obs[:, :1]).pow(2).mean(-1)
        advantage = (reward - reward.mean()) / (reward.std() + 1e-8)
    for epoch in range(3):
        new = policy.dist(obs).log_prob(action)  # BUG GS603 GS601
        ratio = (new - old).exp()  # BUG GS603 GS601
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()  # BUG GS601 GS603
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
