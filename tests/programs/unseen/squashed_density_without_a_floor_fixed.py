"""SAC's correction for tanh: log(1 - a²) with nothing that keeps it from log(0) when the action saturates.
Repaired here.

Round 2
Class: magnitude
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(234)


class SquashedActor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 32), nn.ReLU())
        self.mean, self.log_std = nn.Linear(32, 1), nn.Linear(32, 1)

    def forward(self, obs):
        features = self.body(obs)
        dist = Normal(self.mean(features), self.log_std(features).clamp(-5, 2).exp())
        raw = dist.rsample()
        action = torch.tanh(raw)
        correction = torch.log(1 - action.pow(2) + 1e-6)
        return action, (dist.log_prob(raw) - correction).sum(-1)


actor = SquashedActor()
critic = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-2)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-2)
for step in range(120):
    obs = torch.randn(64, 3) * 40
    with torch.no_grad():
        action, _ = actor(obs)
    reward = 20 * action.squeeze(-1)
    critic_loss = (critic(torch.cat([obs, action], -1)).squeeze(-1) - reward).pow(2).mean()
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    action, log_prob = actor(obs)
    actor_loss = (0.01 * log_prob - critic(torch.cat([obs, action], -1)).squeeze(-1)).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
