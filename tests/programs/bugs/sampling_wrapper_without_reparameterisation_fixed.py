"""A wrapper around the distribution serves the rollout and the actor's loss; the loss should have asked for
a differentiable sample."""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)
actor, critic = nn.Linear(4, 2), nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)


class Squashed:
    def __init__(self, mean):
        self.base = Normal(mean, 0.3)

    def draw(self, differentiable=False):
        raw = self.base.rsample() if differentiable else self.base.sample()
        return torch.tanh(raw)


for update in range(30):
    obs, reward = torch.randn(16, 4), torch.randn(16, 1)
    action = Squashed(actor(obs)).draw().detach()
    critic_loss = (critic(torch.cat([obs, action], -1)) - reward).pow(2).mean()
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    proposal = Squashed(actor(obs)).draw(differentiable=True)
    actor_loss = -critic(torch.cat([obs, proposal], -1)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
