"""All log-probabilities of the run are collected for a histogram at its end, with their graphs.

Round 10
Class: stays alive
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(1009)


class Trainer:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.all_log_probs = []

    def step(self):
        obs = torch.randn(16, 4)
        dist = Normal(self.policy(obs).squeeze(-1), 0.4)
        action = dist.sample()
        logp = dist.log_prob(action)
        self.all_log_probs.extend(logp)  # BUG GS305
        reward = -(action - obs[:, 0]).pow(2)
        loss = -(logp * (reward - reward.mean())).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


trainer = Trainer()
for _ in range(80):
    trainer.step()
spread = torch.tensor([float(x) for x in trainer.all_log_probs]).std().item()
