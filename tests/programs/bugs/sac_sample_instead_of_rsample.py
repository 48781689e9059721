"""SAC: the action is drawn with sample(), so the critic teaches the actor nothing."""

import torch
from torch import nn
from torch.distributions import Independent, Normal

torch.manual_seed(0)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 32), nn.ReLU())
        self.mean, self.log_std = nn.Linear(32, 2), nn.Linear(32, 2)

    def forward(self, obs):
        hidden = self.trunk(obs)
        dist = Independent(Normal(self.mean(hidden), self.log_std(hidden).clamp(-5, 2).exp()), 1)
        action = dist.sample()  # BUG GS203
        return action, dist.log_prob(action)


actor = Actor()
critic = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(10):
    obs, stored = torch.randn(32, 4), torch.randn(32, 2)
    critic_loss = (critic(torch.cat([obs, stored], -1)) - torch.randn(32, 1)).pow(2).mean()
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    action, log_prob = actor(obs)
    q = critic(torch.cat([obs, action], -1)).squeeze(-1)
    actor_loss = (0.2 * log_prob - q).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
