"""One of two calls of a shared soft update has its arguments exchanged."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2), nn.Tanh())
critic = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
actor_target, critic_target = copy.deepcopy(actor), copy.deepcopy(critic)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)


def polyak_update(source, destination, tau=0.05):
    with torch.no_grad():
        for p, t in zip(source.parameters(), destination.parameters(), strict=True):
            t.mul_(1 - tau).add_(p, alpha=tau)


for update in range(30):
    obs, action, reward, following = (
        torch.randn(16, 4),
        torch.randn(16, 2).tanh(),
        torch.randn(16, 1),
        torch.randn(16, 4),
    )
    with torch.no_grad():
        goal = reward + 0.9 * critic_target(torch.cat([following, actor_target(following)], -1))
    loss = (critic(torch.cat([obs, action], -1)) - goal).pow(2).mean()
    critic_optimizer.zero_grad()
    loss.backward()
    critic_optimizer.step()
    actor_loss = -critic(torch.cat([obs, actor(obs)], -1)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    polyak_update(actor, actor_target)
    polyak_update(critic_target, critic)  # BUG GS307 GS809
