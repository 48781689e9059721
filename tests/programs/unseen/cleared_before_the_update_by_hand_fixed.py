"""An actor-critic that descends by hand: the gradients are zeroed between the backward and the update.
Repaired here.

Round 5
Class: gradients by hand
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(504)


class Learner:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 24), nn.Tanh())
        self.pi, self.vf = nn.Linear(24, 2), nn.Linear(24, 1)
        self.params = [*self.net.parameters(), *self.pi.parameters(), *self.vf.parameters()]

    def zero(self):
        for p in self.params:
            if p.grad is not None:
                p.grad.zero_()

    def apply(self, lr):
        with torch.no_grad():
            for p in self.params:
                p -= lr * p.grad

    def learn(self, obs):
        hidden = self.net(obs)
        dist, value = Categorical(logits=self.pi(hidden)), self.vf(hidden).squeeze(-1)
        action = dist.sample()
        reward = (action == (obs[:, 0] > 0).long()).float()
        loss = -(dist.log_prob(action) * (reward - value).detach()).mean() + (value - reward).pow(2).mean()
        self.zero()
        loss.backward()
        self.apply(1e-2)


learner = Learner()
for update in range(50):
    learner.learn(torch.randn(32, 4))
