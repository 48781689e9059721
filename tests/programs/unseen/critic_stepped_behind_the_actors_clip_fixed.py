"""A helper clips and steps; the critic's update hands it the actor's parameters.
Repaired here.

Round 2
Class: the line
"""

import copy

import torch
from torch import nn

torch.manual_seed(235)


class TD3:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
        self.target = copy.deepcopy(self.critic)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def apply(self, loss, optimizer, module, limit=0.5):
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(module.parameters(), limit)
        optimizer.step()

    def update(self, obs, action, reward, next_obs):
        with torch.no_grad():
            goal = reward + 0.95 * self.target(torch.cat([next_obs, self.actor(next_obs)], 1))
        critic_loss = (self.critic(torch.cat([obs, action], 1)) - goal).pow(2).mean()
        self.apply(critic_loss, self.critic_opt, self.critic)
        actor_loss = -self.critic(torch.cat([obs, self.actor(obs)], 1)).mean()
        self.apply(actor_loss, self.actor_opt, self.actor)
        with torch.no_grad():
            for t, s in zip(self.target.parameters(), self.critic.parameters()):
                t.lerp_(s, 0.02)


agent = TD3()
for _ in range(60):
    obs, action = torch.randn(32, 4), torch.rand(32, 2) * 2 - 1
    agent.update(obs, action, 10 * (obs[:, :1] * action[:, :1]), torch.randn(32, 4))
