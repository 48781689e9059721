"""Log-probabilities go through NumPy for normalisation, and requires_grad_ hides that the graph is gone."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)


class Reinforce:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-2)

    def play(self, steps=8):
        log_probs, rewards = [], []
        for _ in range(steps):
            dist = torch.distributions.Categorical(logits=self.policy(torch.randn(4)))
            action = dist.sample()
            log_probs.append(dist.log_prob(action).detach().numpy())  # BUG GS201 GS202
            rewards.append(float(action) - 0.3)
        return log_probs, rewards

    def update(self, log_probs, rewards):
        returns = np.cumsum(rewards[::-1])[::-1]
        returns = (returns - returns.mean()) / (returns.std() + 1e-8)
        weighted = -np.stack(log_probs) * returns
        loss = torch.from_numpy(weighted).sum().requires_grad_(True)  # BUG GS201 GS202
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


agent = Reinforce()
for _ in range(10):
    agent.update(*agent.play())
