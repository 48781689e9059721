"""A deterministic policy gradient with updates written by hand: the critic is stepped with what the actor's loss left.
Repaired here.

Round 4
Class: gradients by hand
"""

import torch
from torch import nn

torch.manual_seed(406)


class HandAgent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 2), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 1))

    def descend(self, network, lr):
        with torch.no_grad():
            for p in network.parameters():
                p -= lr * p.grad

    def clear(self, network):
        for p in network.parameters():
            p.grad = None

    def learn(self, obs, action, reward):
        self.clear(self.critic)
        td = self.critic(torch.cat([obs, action], 1)).squeeze(1) - reward
        td.pow(2).mean().backward()
        self.descend(self.critic, 1e-2)
        self.clear(self.actor)
        gain = self.critic(torch.cat([obs, self.actor(obs)], 1)).mean()
        (-gain).backward()
        self.descend(self.actor, 1e-2)


agent = HandAgent()
for update in range(60):
    obs, action = torch.randn(32, 4), torch.rand(32, 2) * 2 - 1
    agent.learn(obs, action, -(action - obs[:, :2].tanh()).pow(2).sum(1))
