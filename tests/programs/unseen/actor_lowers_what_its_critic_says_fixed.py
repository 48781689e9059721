"""A deterministic actor minimises the critic's value: the minus is missing.
Repaired here.

Round 6
Class: meaning
"""

import copy

import torch
from torch import nn

torch.manual_seed(620)


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, outputs))


actor, critic = nn.Sequential(mlp(4, 1), nn.Tanh()), mlp(5, 1)
old_actor, old_critic = (copy.deepcopy(net).requires_grad_(False) for net in (actor, critic))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for update in range(60):
    obs, action = torch.randn(32, 4), torch.rand(32, 1) * 2 - 1
    after = 0.9 * obs + 0.1 * action
    reward = -(action - obs[:, :1].tanh()).pow(2)
    goal = reward + 0.9 * old_critic(torch.cat([after, old_actor(after)], 1))
    critic_loss = (critic(torch.cat([obs, action], 1)) - goal).pow(2).mean()
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    value = critic(torch.cat([obs, actor(obs)], 1))
    actor_loss = -value.mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    with torch.no_grad():
        for old, new in zip(
            [*old_actor.parameters(), *old_critic.parameters()], [*actor.parameters(), *critic.parameters()]
        ):
            old.lerp_(new, 0.02)
