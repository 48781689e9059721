"""A deterministic actor with two critics: its loss is the smaller value itself, not its negative.
Repaired here.

Round 11
Class: meaning
"""

import copy

import torch
from torch import nn

torch.manual_seed(1125)


class Agent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2), nn.Tanh())
        self.critics = nn.ModuleList(
            nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1)) for _ in range(2)
        )
        self.slow_actor, self.slow_critics = copy.deepcopy(self.actor), copy.deepcopy(self.critics)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critics.parameters(), lr=1e-3)

    def smaller(self, critics, obs, action):
        joined = torch.cat([obs, action], -1)
        return torch.min(critics[0](joined), critics[1](joined))

    def learn(self, obs, action, reward, after):
        with torch.no_grad():
            y = reward + 0.9 * self.smaller(self.slow_critics, after, self.slow_actor(after))
        joined = torch.cat([obs, action], -1)
        critic_loss = sum((c(joined) - y).pow(2).mean() for c in self.critics)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()
        value = self.smaller(self.critics, obs, self.actor(obs)).mean()
        self.actor_opt.zero_grad()
        (-value).backward()
        self.actor_opt.step()
        with torch.no_grad():
            for slow, fast in ((self.slow_actor, self.actor), (self.slow_critics, self.critics)):
                for s, p in zip(slow.parameters(), fast.parameters()):
                    s.lerp_(p, 0.02)


agent = Agent()
for _ in range(60):
    obs, action = torch.randn(32, 4), torch.rand(32, 2) * 2 - 1
    agent.learn(obs, action, -(action - obs[:, :2]).pow(2).sum(-1, keepdim=True), torch.randn(32, 4))
