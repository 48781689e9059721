"""A curriculum narrows the exploration of one joint by writing to a slice of the parameter.
Repaired here.

Round 4
Class: forward errors
"""

import torch
from torch import nn
from torch.distributions import Independent, Normal

torch.manual_seed(402)


class Walker(nn.Module):
    def __init__(self, obs=7, joints=3):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(obs, 32), nn.Tanh(), nn.Linear(32, joints))
        self.log_std = nn.Parameter(torch.zeros(joints))

    def narrow(self, joint, factor):
        with torch.no_grad():
            self.log_std[joint] += factor

    def forward(self, obs):
        return Independent(Normal(self.mean(obs), self.log_std.exp()), 1)


agent = Walker()
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4)
for iteration in range(30):
    obs = torch.randn(32, 7)
    with torch.no_grad():
        action = agent(obs).sample()
    reward = -(action - obs[:, :3]).pow(2).sum(-1)
    loss = -(agent(obs).log_prob(action) * (reward - reward.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if iteration == 12:
        agent.narrow(1, -0.5)
