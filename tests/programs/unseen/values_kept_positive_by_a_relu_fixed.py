"""A critic of negative returns ends in a ReLU: once its outputs are below zero nothing reaches it any more.
Repaired here.

Round 5
Class: zero in part
"""

import torch
from torch import nn

torch.manual_seed(505)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 32), nn.Tanh())
        self.out = nn.Linear(32, 1)
        nn.init.constant_(self.out.bias, -1.0)
        nn.init.uniform_(self.out.weight, -0.01, 0.01)

    def forward(self, obs):
        return self.out(self.body(obs)).squeeze(-1)


critic = Critic()
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for update in range(150):
    obs = torch.randn(32, 5)
    returns = -2.0 - obs[:, 0].abs()
    loss = (critic(obs) - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
