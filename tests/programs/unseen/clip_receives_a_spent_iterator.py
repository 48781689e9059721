"""The agent's parameters are an iterator that the optimizer has already used up when the clip comes.

Round 4
Class: magnitude
"""

import itertools

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(423)


class A2C:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 2))
        self.critic = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 1))
        self.weights = itertools.chain(self.actor.parameters(), self.critic.parameters())  # BUG GS505 GS506
        self.optimizer = torch.optim.Adam(self.weights, lr=1e-3)

    def learn(self, obs, action, returns):
        value = self.critic(obs).squeeze(-1)
        logp = Categorical(logits=self.actor(obs)).log_prob(action)
        loss = -(logp * (returns - value).detach()).mean() + (value - returns).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.weights, 0.5)  # BUG GS505 GS506
        self.optimizer.step()


agent = A2C()
for update in range(40):
    obs = torch.randn(32, 4)
    with torch.no_grad():
        action = Categorical(logits=agent.actor(obs)).sample()
    agent.learn(obs, action, 5.0 * (action == (obs[:, 0] > 0).long()).float())
