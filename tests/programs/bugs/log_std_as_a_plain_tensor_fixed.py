"""The log-std requires grad but is no nn.Parameter, so parameters() does not list it."""

import torch
from torch import nn

torch.manual_seed(0)


class Gaussian(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
        self.log_std = nn.Parameter(torch.zeros(2))

    def log_prob(self, obs, action):
        return torch.distributions.Normal(self.mean(obs), self.log_std.exp()).log_prob(action).sum(-1)


policy = Gaussian()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for _ in range(14):
    obs, action, advantage = torch.randn(16, 4), torch.randn(16, 2), torch.randn(16)
    loss = -(policy.log_prob(obs, action) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
