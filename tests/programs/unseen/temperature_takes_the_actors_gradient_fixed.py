"""Soft actor-critic: the actor's loss holds the live temperature, whose optimizer steps with both gradients.
Repaired here.

Round 9
Class: weights
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(913)


class SAC:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 4))
        self.critic = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr=1e-2)

    def act(self, obs):
        mean, log_std = self.actor(obs).chunk(2, -1)
        dist = Normal(mean, log_std.clamp(-4, 1).exp())
        action = dist.rsample()
        return action, dist.log_prob(action).sum(-1, keepdim=True)

    def update(self, obs, action, reward):
        self.critic_opt.zero_grad()
        (self.critic(torch.cat([obs, action], -1)) - reward).pow(2).mean().backward()
        self.critic_opt.step()

        new, logp = self.act(obs)
        alpha = self.log_alpha.exp().detach()
        self.alpha_opt.zero_grad()
        self.actor_opt.zero_grad()
        (alpha * logp - self.critic(torch.cat([obs, new], -1))).mean().backward()
        self.actor_opt.step()

        (-(self.log_alpha * (logp.detach() - 2.0)).mean()).backward()
        self.alpha_opt.step()


agent = SAC()
for update in range(50):
    obs, action = torch.randn(32, 4), torch.randn(32, 2)
    agent.update(obs, action, obs[:, :1] - action.pow(2).sum(-1, keepdim=True))
