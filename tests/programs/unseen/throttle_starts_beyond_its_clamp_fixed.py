"""The throttle of a deterministic driver starts above its limit and is clamped: its unit never moves again.
Repaired here.

Round 4
Class: zero in part
"""

import torch
from torch import nn

torch.manual_seed(408)


class Driver(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 32), nn.ReLU())
        self.out = nn.Linear(32, 2)
        with torch.no_grad():
            self.out.bias.copy_(torch.tensor([0.0, 0.5]))

    def forward(self, obs):
        return self.out(self.body(obs)).clamp(-1.0, 1.0)


actor = Driver()
critic = nn.Sequential(nn.Linear(7, 32), nn.ReLU(), nn.Linear(32, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for update in range(150):
    obs = torch.randn(32, 5)
    action = (actor(obs) + 0.2 * torch.randn(32, 2)).detach()
    reward = -(action - obs[:, :2].clamp(-0.5, 0.5)).pow(2).sum(1, keepdim=True)
    critic_loss = (critic(torch.cat([obs, action], 1)) - reward).pow(2).mean()
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    actor_loss = -critic(torch.cat([obs, actor(obs)], 1)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
