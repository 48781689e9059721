"""DDPG whose soft update forgets the actor: the target's action is that of the random actor of the beginning."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2), nn.Tanh())
critic = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
actor_target, critic_target = copy.deepcopy(actor), copy.deepcopy(critic)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for update in range(150):
    obs, action, reward, following = (
        torch.randn(32, 4),
        torch.randn(32, 2).tanh(),
        torch.randn(32, 1),
        torch.randn(32, 4),
    )
    with torch.no_grad():
        next_action = actor_target(following)
        goal = reward + 0.9 * critic_target(torch.cat([following, next_action], -1))
    loss = (critic(torch.cat([obs, action], -1)) - goal).pow(2).mean()
    critic_optimizer.zero_grad()
    loss.backward()
    critic_optimizer.step()
    actor_loss = -critic(torch.cat([obs, actor(obs)], -1)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    with torch.no_grad():
        for t, p in zip(critic_target.parameters(), critic.parameters(), strict=True):
            t.lerp_(p, 0.01)
        for t, p in zip(actor_target.parameters(), actor.parameters(), strict=True):
            t.lerp_(p, 0.01)
