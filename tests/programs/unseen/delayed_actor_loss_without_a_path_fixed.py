"""Delayed policy updates: every fourth step the actor's action passes through NumPy to be clipped before it
reaches the critic.
Repaired here.

Class: late and rare
"""

import copy

import numpy as np
import torch
from torch import nn

torch.manual_seed(173)
actor = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
critic_target = copy.deepcopy(critic).requires_grad_(False)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-2)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-2)


def q(network, obs, action):
    return network(torch.cat([obs, action], -1)).squeeze(-1)


def bounded(action):
    return action.clamp(-0.99, 0.99)


def regulariser(module):
    return 1e-4 * sum(p.pow(2).sum() for p in module.parameters())


for step in range(160):
    obs, next_obs = torch.randn(32, 3), torch.randn(32, 3)
    with torch.no_grad():
        action = (actor(obs) + 0.3 * torch.randn(32, 1)).clamp(-1, 1)
        reward = -(action - obs[:, :1].tanh()).pow(2).squeeze(-1)
        goal = reward + 0.5 * q(critic_target, next_obs, actor(next_obs))
    critic_loss = (q(critic, obs, action) - goal).pow(2).mean()
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    if step % 4 == 3:
        actor_loss = -q(critic, obs, bounded(actor(obs))).mean() + regulariser(actor)
        actor_opt.zero_grad()
        actor_loss.backward()
        actor_opt.step()
        with torch.no_grad():
            for old, new in zip(critic_target.parameters(), critic.parameters()):
                old.lerp_(new, 0.1)
print("reward", reward.mean().item())
