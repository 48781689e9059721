"""A Gaussian policy passes its log-std through a ReLU: wherever the head is negative it is never trained.

Class: zero in part
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(53)


class GaussianPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(3, 32), nn.Tanh())
        self.mean = nn.Linear(32, 2)
        self.log_std = nn.Linear(32, 2)
        nn.init.constant_(self.log_std.bias, -2.0)

    def forward(self, obs):
        hidden = self.trunk(obs)
        log_std = torch.relu(self.log_std(hidden))  # BUG GS208
        return Normal(self.mean(hidden), log_std.exp())


policy = GaussianPolicy()
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
for update in range(150):
    obs = torch.randn(64, 3)
    dist = policy(obs)
    action = dist.sample()
    reward = -(action - obs[:, :2]).pow(2).sum(-1)
    advantage = (reward - reward.mean()) / reward.std()
    loss = -(dist.log_prob(action).sum(-1) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("reward", reward.mean().item())
