"""Cloning for 80 iterations, with the target network already there; only RL syncs it, softly."""

import copy

import torch
from torch import nn


class Agent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
        self.actor_target, self.critic_target = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def clone(self, s, a):
        loss = (self.actor(s) - a).pow(2).mean()
        self.actor_opt.zero_grad()
        loss.backward()
        self.actor_opt.step()

    def update(self, s, a, r, s2):
        with torch.no_grad():
            y = r + 0.95 * self.critic_target(torch.cat([s2, self.actor_target(s2)], 1)).squeeze(1)
        critic_loss = (self.critic(torch.cat([s, a], 1)).squeeze(1) - y).pow(2).mean()
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()
        actor_loss = -self.critic(torch.cat([s, self.actor(s)], 1)).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()
        for net, target in ((self.actor, self.actor_target), (self.critic, self.critic_target)):
            for p, q in zip(net.parameters(), target.parameters()):
                q.data.lerp_(p.data, 0.01)


torch.manual_seed(0)
agent = Agent()
for _ in range(80):
    s = torch.randn(32, 4)
    agent.clone(s, torch.tanh(s[:, :2]))
agent.actor_target.load_state_dict(agent.actor.state_dict())
for _ in range(60):
    s, a, s2 = torch.randn(32, 4), torch.rand(32, 2) * 2 - 1, torch.randn(32, 4)
    agent.update(s, a, s[:, 0] * a[:, 0], s2)
print(float(agent.actor[0].weight.sum()))
