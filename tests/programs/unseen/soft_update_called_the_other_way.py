"""A soft update that is right is called with its arguments exchanged for one of two networks: the online
critic is drawn to its target, which never moves.

Class: the line
"""

import copy

import torch
from torch import nn

torch.manual_seed(313)


@torch.no_grad()
def soft_update(target, source, tau=0.05):
    for t, s in zip(target.parameters(), source.parameters()):
        t.mul_(1 - tau).add_(tau * s)


class DDPG:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
        self.actor_target = copy.deepcopy(self.actor).requires_grad_(False)
        self.critic_target = copy.deepcopy(self.critic).requires_grad_(False)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=3e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=3e-3)

    def update(self, obs, action, reward, next_obs):
        next_action = self.actor_target(next_obs)
        goal = reward + 0.8 * self.critic_target(torch.cat([next_obs, next_action], -1))
        critic_loss = (self.critic(torch.cat([obs, action], -1)) - goal).pow(2).mean()
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        actor_loss = -self.critic(torch.cat([obs, self.actor(obs)], -1)).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()

        soft_update(self.actor_target, self.actor)
        soft_update(self.critic, self.critic_target)  # BUG GS307 GS809
        return critic_loss.item()


agent = DDPG()
for step in range(120):
    obs = torch.randn(32, 3)
    with torch.no_grad():
        action = (agent.actor(obs) + 0.3 * torch.randn(32, 1)).clamp(-1, 1)
    reward = 1.0 - (action - obs[:, :1].tanh()).pow(2)
    loss = agent.update(obs, action, reward, torch.randn(32, 3))
print("reward", reward.mean().item())
