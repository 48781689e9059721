"""The same with the optimizer of the model."""

import torch
from torch import nn

torch.manual_seed(0)


class Learner:
    def __init__(self):
        self.policy, self.model = nn.Linear(4, 2), nn.Linear(4, 4)
        self.optimizers = {
            "policy": torch.optim.Adam(self.policy.parameters(), lr=1e-3),
            "model": torch.optim.Adam(self.model.parameters(), lr=1e-3),
        }

    def descend(self, loss, which):
        self.optimizers[which].zero_grad()
        loss.backward()
        self.optimizers[which].step()

    def learn(self, obs, after):
        self.descend((self.policy(obs) - 1.0).pow(2).mean(), "policy")
        self.descend((self.model(obs) - after).pow(2).mean(), "model")


learner = Learner()
for _ in range(16):
    learner.learn(torch.randn(16, 4), torch.randn(16, 4))
