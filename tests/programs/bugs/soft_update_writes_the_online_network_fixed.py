"""DDPG in a class: the helper's arguments are the wrong way round, and the critic is pulled back to its target."""

import copy

import torch
from torch import nn

torch.manual_seed(0)


def soft_update(target, source, tau):
    with torch.no_grad():
        for t, s in zip(target.parameters(), source.parameters()):
            t.mul_(1 - tau).add_(s, alpha=tau)


class Agent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
        self.critic_target = copy.deepcopy(self.critic)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def update(self, obs, action, reward, after):
        with torch.no_grad():
            following = torch.cat([after, self.actor(after)], -1)
            target = reward + 0.99 * self.critic_target(following)
        loss = (self.critic(torch.cat([obs, action], -1)) - target).pow(2).mean()
        self.critic_optimizer.zero_grad()
        loss.backward()
        self.critic_optimizer.step()
        actor_loss = -self.critic(torch.cat([obs, self.actor(obs)], -1)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
        soft_update(self.critic_target, self.critic, 0.01)


agent = Agent()
for _ in range(16):
    agent.update(torch.randn(16, 3), torch.randn(16, 1).tanh(), torch.randn(16, 1), torch.randn(16, 3))
