"""The mean of a continuous policy is clamped to the joint's limits; the offset of one joint puts it outside from the
beginning.
Repaired here.

Round 2
Class: zero in part
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(213)
LOW = torch.tensor([-1.0, -1.0])
HIGH = torch.tensor([1.0, 1.0])


class Driver(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 32), nn.Tanh())
        self.mean = nn.Linear(32, 2)
        with torch.no_grad():
            self.mean.weight.mul_(0.1)
            self.mean.bias.copy_(torch.tensor([0.0, 0.3]))

    def forward(self, obs):
        raw = self.mean(self.body(obs))
        mean = torch.max(torch.min(raw, HIGH), LOW)
        return Normal(mean, 0.3)


driver = Driver()
optimizer = torch.optim.Adam(driver.parameters(), lr=1e-3)
for episode in range(80):
    obs = torch.randn(64, 5)
    dist = driver(obs)
    action = dist.sample()
    reward = -(action - torch.tanh(obs[:, :2])).pow(2).sum(-1)
    advantage = (reward - reward.mean()) / (reward.std() + 1e-6)
    loss = -(dist.log_prob(action).sum(-1) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
