"""For the log, the advantages are centred in the array that shares memory with the tensor that the loss was made of.
Repaired here.

Round 2
Class: hidden writes
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(230)


def describe(advantage):
    array = advantage.numpy().copy()
    array -= array.mean()
    return {"spread": float((array**2).mean() ** 0.5), "largest": float(abs(array).max())}


class Reinforce:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 2))
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=3e-3)
        self.log = []

    def update(self, obs, action, advantage):
        log_prob = Categorical(logits=self.policy(obs)).log_prob(action)
        loss = -(log_prob * advantage).mean()
        self.log.append(describe(advantage))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


agent = Reinforce()
for _ in range(40):
    obs = torch.randn(64, 4)
    with torch.no_grad():
        action = Categorical(logits=agent.policy(obs)).sample()
    agent.update(obs, action, (action == (obs[:, 0] > 0)).float())
