"""The critic of an actor is cleared by module.zero_grad; targets under no_grad through a decorator."""

import copy

import torch
from torch import nn

torch.manual_seed(0)


class DDPG:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
        self.actor_slow, self.critic_slow = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.optimizers = {
            "actor": torch.optim.Adam(self.actor.parameters(), lr=1e-3),
            "critic": torch.optim.Adam(self.critic.parameters(), lr=1e-3),
        }

    @torch.no_grad()
    def wanted(self, reward, after):
        return reward + 0.99 * self.critic_slow(torch.cat([after, self.actor_slow(after)], -1))

    def step(self, name, loss):
        getattr(self, name).zero_grad()
        loss.backward()
        self.optimizers[name].step()

    @torch.no_grad()
    def soften(self, tau=0.01):
        for net, slow in ((self.actor, self.actor_slow), (self.critic, self.critic_slow)):
            for p, s in zip(net.parameters(), slow.parameters()):
                s.add_(tau * (p - s))


agent = DDPG()
for _ in range(14):
    obs, action, reward, after = torch.randn(16, 3), torch.rand(16, 1), torch.randn(16, 1), torch.randn(16, 3)
    predicted = agent.critic(torch.cat([obs, action], -1))
    agent.step("critic", nn.functional.mse_loss(predicted, agent.wanted(reward, after)))
    agent.step("actor", -agent.critic(torch.cat([obs, agent.actor(obs)], -1)).mean())
    agent.soften()
