"""Advantage-weighted regression: the exponential weight is made of the trained value and stays attached.

Class: weights
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(197)


class Model(nn.Module):
    def __init__(self, obs_dim=3):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs_dim, 32), nn.ReLU())
        self.mean, self.value = nn.Linear(32, 1), nn.Linear(32, 1)
        self.log_std = nn.Parameter(torch.zeros(1))

    def forward(self, obs):
        hidden = self.trunk(obs)
        return Normal(self.mean(hidden), self.log_std.exp()), self.value(hidden)


def offline_batch(n=64):
    obs = torch.randn(n, 3)
    action = torch.randn(n, 1)
    returns = -(action - obs[:, :1]).pow(2)
    return obs, action, returns


def weights(returns, value, beta=1.0):
    return torch.exp((returns - value) / beta).clamp(max=20.0)  # BUG GS303


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for update in range(200):
    obs, action, returns = offline_batch()
    dist, value = model(obs)
    actor = -(weights(returns, value) * dist.log_prob(action)).mean()
    critic = (value - returns).pow(2).mean()
    optimizer.zero_grad()
    (actor + 0.5 * critic).backward()
    optimizer.step()
print("error of the mean", (dist.mean - obs[:, :1]).abs().mean().item())
