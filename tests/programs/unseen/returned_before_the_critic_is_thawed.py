"""The actor's update freezes the critic and thaws it at its end; where the update is skipped, it returns before that.

Round 11
Class: the line
"""

import torch
from torch import nn

torch.manual_seed(1121)


class Agent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2))
        self.critic = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def update_critic(self, obs, action, reward):
        error = self.critic(torch.cat([obs, action], -1)) - reward
        self.critic_opt.zero_grad()
        error.pow(2).mean().backward()  # BUG GS201
        self.critic_opt.step()

    def update_actor(self, obs):
        self.critic.requires_grad_(False)  # BUG GS201 GS207
        if obs.abs().max() > 3.5:  # BUG GS201 GS207
            return  # BUG GS201 GS207
        loss = -self.critic(torch.cat([obs, self.actor(obs)], -1)).mean()
        self.actor_opt.zero_grad()
        loss.backward()
        self.actor_opt.step()
        self.critic.requires_grad_(True)


agent = Agent()
for update in range(60):
    obs, action = torch.randn(32, 4), torch.randn(32, 2)
    agent.update_critic(obs, action, obs[:, :1] - action.pow(2).sum(-1, keepdim=True))
    agent.update_actor(obs)
