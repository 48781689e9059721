"""The decorator meant for `act` sits on `evaluate`, one method too low.
Repaired here.

Round 4
Class: the line
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(426)


class GaussianAgent(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 2))
        self.value = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.full((2,), -0.5))

    @torch.no_grad()
    def act(self, obs):
        dist = Normal(self.mean(obs), self.log_std.exp())
        action = dist.sample()
        return action.detach(), dist.log_prob(action).sum(-1).detach()

    def evaluate(self, obs, action):
        dist = Normal(self.mean(obs), self.log_std.exp())
        return dist.log_prob(action).sum(-1), dist.entropy().sum(-1)


agent = GaussianAgent()
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4)
for update in range(30):
    obs = torch.randn(64, 6)
    action, old = agent.act(obs)
    reward = -(action - obs[:, :2]).pow(2).sum(-1)
    for epoch in range(3):
        logp, entropy = agent.evaluate(obs, action)
        value = agent.value(obs).squeeze(-1)
        advantage = (reward - value).detach()
        ratio = (logp - old).exp()
        policy_loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        loss = policy_loss + 0.5 * (value - reward).pow(2).mean() - 0.01 * entropy.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
