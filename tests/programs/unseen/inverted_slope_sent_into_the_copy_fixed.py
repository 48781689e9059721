"""A deterministic policy gradient by hand, with slopes inverted near the limits of the action: the slope is sent back
into the copy that was made to measure it, and not into the actor's own output.
Repaired here.

Round 12
Class: gradients by hand
"""

import copy

import torch
from torch import nn

torch.manual_seed(1213)
LOW, HIGH = -1.0, 1.0


def mlp(inputs, outputs):
    return nn.Sequential(
        nn.Linear(inputs, 32), nn.LeakyReLU(), nn.Linear(32, 32), nn.LeakyReLU(), nn.Linear(32, outputs)
    )


class ParameterisedActions:
    def __init__(self, obs_dim=5, act_dim=3):
        self.actor, self.critic = mlp(obs_dim, act_dim), mlp(obs_dim + act_dim, 1)
        self.slow_actor, self.slow_critic = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=3e-3)

    def update_critic(self, obs, action, reward, after):
        with torch.no_grad():
            following = self.slow_critic(torch.cat([after, self.slow_actor(after).clamp(LOW, HIGH)], 1))
            goal = reward.unsqueeze(1) + 0.9 * following
        loss = (self.critic(torch.cat([obs, action], 1)) - goal).pow(2).mean()
        self.critic_opt.zero_grad()
        loss.backward()
        self.critic_opt.step()

    def update_actor(self, obs):
        action = self.actor(obs)
        measured = action.detach().requires_grad_()
        value = self.critic(torch.cat([obs, measured], 1)).mean()
        (slope,) = torch.autograd.grad(value, measured)
        room = torch.where(slope > 0, HIGH - measured, measured - LOW) / (HIGH - LOW)
        self.actor_opt.zero_grad()
        action.backward(gradient=-slope * room.detach())
        self.actor_opt.step()

    @torch.no_grad()
    def follow(self, rate=0.05):
        for fast, slow in ((self.actor, self.slow_actor), (self.critic, self.slow_critic)):
            for mine, theirs in zip(fast.parameters(), slow.parameters()):
                theirs.lerp_(mine, rate)


agent = ParameterisedActions()
for update in range(60):
    obs, action = torch.randn(24, 5), torch.rand(24, 3) * 2 - 1
    reward = -(action - 0.5 * obs[:, :3].tanh()).pow(2).sum(1)
    agent.update_critic(obs, action, reward, 0.7 * obs + 0.2 * torch.randn(24, 5))
    agent.update_actor(obs)
    agent.follow()
print("action", agent.actor(obs).abs().mean().item())
