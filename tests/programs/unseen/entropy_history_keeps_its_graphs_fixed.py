"""The training statistics collect each update's entropy as a live tensor, and with it each update's graph.
Repaired here.

Class: stays alive
"""

from collections import defaultdict

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(107)


class Trainer:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=5e-3)
        self.stats = defaultdict(list)

    def update(self, obs):
        dist = Categorical(logits=self.policy(obs))
        action = dist.sample()
        reward = (action == obs[:, :3].argmax(-1)).float()
        entropy = dist.entropy().mean()
        loss = -(dist.log_prob(action) * (reward - reward.mean())).mean() - 0.01 * entropy
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.stats["reward"].append(reward.mean().item())
        self.stats["entropy"].append(entropy.item())


trainer = Trainer()
for step in range(200):
    trainer.update(torch.randn(32, 4))
print("entropy", float(sum(trainer.stats["entropy"][-10:]) / 10))
