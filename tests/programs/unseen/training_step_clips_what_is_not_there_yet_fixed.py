"""A shared training step clips before it differentiates.
Repaired here.

Round 5
Class: magnitude
"""

import torch
from torch import nn


class Trainer:
    def __init__(self, network, lr, limit):
        self.network, self.limit = network, limit
        self.optimizer = torch.optim.Adam(network.parameters(), lr=lr)

    def step(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), self.limit)
        self.optimizer.step()


torch.manual_seed(517)
critic = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
actor = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())
critic_trainer, actor_trainer = Trainer(critic, 1e-3, 0.5), Trainer(actor, 1e-3, 0.5)
for update in range(40):
    obs, action = torch.randn(32, 4), torch.rand(32, 1) * 2 - 1
    goal = -(action - obs[:, :1].tanh()).pow(2)
    critic_trainer.step((critic(torch.cat([obs, action], 1)) - goal).pow(2).mean())
    actor_trainer.step(-critic(torch.cat([obs, actor(obs)], 1)).mean())
