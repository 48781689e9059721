"""A logger collects the approximate KL and the clip fraction of every epoch; the KL still has its graph.
Repaired here.

Round 2
Class: stays alive
"""

from collections import defaultdict

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(218)


class Logger:
    def __init__(self):
        self.history = defaultdict(list)

    def record(self, **values):
        for name, value in values.items():
            self.history[name].append(value)


class PPO:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=3e-3)
        self.logger = Logger()

    def train_on(self, obs, action, old, advantage):
        for _ in range(4):
            new = Categorical(logits=self.policy(obs)).log_prob(action)
            ratio = (new - old).exp()
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            clipped = ((ratio - 1).abs() > 0.2).float().mean()
            self.logger.record(kl=(old - new).mean().item(), clipped=clipped, loss=loss.item())


agent = PPO()
for iteration in range(40):
    obs = torch.randn(64, 4)
    with torch.no_grad():
        dist = Categorical(logits=agent.policy(obs))
        action = dist.sample()
        old = dist.log_prob(action)
    reward = (action == obs[:, :3].argmax(1)).float()
    agent.train_on(obs, action, old, reward - reward.mean())
