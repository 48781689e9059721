"""PPO in a class: the objective is maximised, and the entropy is subtracted from it (after ElegantRL #476)."""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)


class Agent:
    def __init__(self, obs_dim=3, act_dim=2):
        self.actor = nn.Sequential(nn.Linear(obs_dim, 32), nn.ReLU(), nn.Linear(32, act_dim))
        self.log_std = nn.Parameter(torch.full((act_dim,), -0.5))
        self.optimizer = torch.optim.Adam([*self.actor.parameters(), self.log_std], lr=3e-4)
        self.ratio_clip, self.lambda_entropy = 0.25, 0.02

    def distribution(self, obs):
        return Normal(self.actor(obs), self.log_std.exp())

    def evaluate(self, obs, action):
        dist = self.distribution(obs)
        return dist.log_prob(action).sum(1), dist.entropy().sum(1)

    def explore(self, obs):
        with torch.no_grad():
            dist = self.distribution(obs)
            action = dist.sample()
            return action, dist.log_prob(action).sum(1)

    def update(self, obs, action, old, advantage):
        for rows in torch.randperm(len(obs)).split(16):
            log_prob, entropy = self.evaluate(obs[rows], action[rows])
            ratio = (log_prob - old[rows]).exp()
            surrogate1 = advantage[rows] * ratio
            surrogate2 = advantage[rows] * ratio.clamp(1 - self.ratio_clip, 1 + self.ratio_clip)
            surrogate = torch.min(surrogate1, surrogate2).mean()
            objective = surrogate + entropy.mean() * self.lambda_entropy
            self.optimizer.zero_grad()
            (-objective).backward()
            self.optimizer.step()


agent = Agent()
for _ in range(6):
    obs = torch.randn(64, 3)
    action, old = agent.explore(obs)
    agent.update(obs, action, old, torch.randn(64))
