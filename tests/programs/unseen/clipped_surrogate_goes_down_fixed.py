"""PPO in a class: the smaller of both surrogates is minimised, not maximised.
Repaired here.

Round 9
Class: meaning
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(924)


class PPO(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
        self.value = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.full((2,), -0.5))
        self.optimizer = torch.optim.Adam(self.parameters(), lr=3e-4)

    def dist(self, obs):
        return Normal(self.mean(obs), self.log_std.exp())

    def learn(self, obs, action, old, returns):
        with torch.no_grad():
            advantage = returns - self.value(obs).squeeze(-1)
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        for _ in range(4):
            dist = self.dist(obs)
            ratio = (dist.log_prob(action).sum(-1) - old).exp()
            clipped = ratio.clamp(0.8, 1.2)
            policy = -torch.min(ratio * advantage, clipped * advantage).mean()
            value = (self.value(obs).squeeze(-1) - returns).pow(2).mean()
            loss = policy + 0.5 * value - 0.01 * dist.entropy().sum(-1).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


agent = PPO()
for update in range(20):
    obs = torch.randn(128, 4)
    with torch.no_grad():
        dist = agent.dist(obs)
        action = dist.sample()
        old = dist.log_prob(action).sum(-1)
    agent.learn(obs, action, old, -(action - obs[:, :2]).pow(2).sum(-1))
