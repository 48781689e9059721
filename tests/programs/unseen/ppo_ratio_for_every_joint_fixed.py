"""PPO for three joints takes a ratio per joint, because the log-probability was not summed over the action.
Repaired here.

Class: axes
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(71)


class Arm(nn.Module):
    def __init__(self, obs_dim=6, joints=3):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, joints))
        self.log_std = nn.Parameter(torch.full((joints,), -0.5))
        self.value = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, 1))

    def dist(self, obs):
        return Normal(self.mean(obs), self.log_std.exp())


def log_prob(dist, action):
    return dist.log_prob(action).sum(-1)


def surrogate(new, old, advantage, clip=0.2):
    ratio = torch.exp(new - old)
    weight = advantage
    return -torch.min(ratio * weight, ratio.clamp(1 - clip, 1 + clip) * weight).mean()


agent = Arm()
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3)
for iteration in range(25):
    obs = torch.randn(128, 6)
    with torch.no_grad():
        dist = agent.dist(obs)
        action = dist.sample()
        old = log_prob(dist, action)
        value = agent.value(obs).squeeze(-1)
    reward = -(action - obs[:, :3].tanh()).pow(2).sum(-1)
    advantage = reward - value
    advantage = (advantage - advantage.mean()) / advantage.std()
    for _ in range(4):
        new = log_prob(agent.dist(obs), action)
        value_loss = (agent.value(obs).squeeze(-1) - reward).pow(2).mean()
        loss = surrogate(new, old, advantage) + 0.5 * value_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print("reward", reward.mean().item())
