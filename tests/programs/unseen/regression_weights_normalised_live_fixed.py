"""Advantage-weighted regression offline: the weights are a softmax over the batch of live advantages.
Repaired here.

Round 10
Class: weights
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(1014)
data_obs, data_action = torch.randn(600, 5), torch.randn(600, 2)
data_return = -(data_action - data_obs[:, :2]).pow(2).sum(-1)


class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.policy = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 2))
        self.value = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
        self.opt = torch.optim.Adam(self.parameters(), lr=1e-3)

    def update(self, obs, action, returns):
        value = self.value(obs).squeeze(-1)
        advantage = returns - value
        weight = torch.softmax(advantage.detach() / 0.5, 0)
        logp = Normal(self.policy(obs), 0.3).log_prob(action).sum(-1)
        loss = -(weight * logp).sum() + advantage.pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


learner = Learner()
for step in range(60):
    rows = torch.randint(600, (64,))
    learner.update(data_obs[rows], data_action[rows], data_return[rows])
