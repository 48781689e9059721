"""Behaviour cloning first, then Q-learning with networks of its own, whose target is not cut."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for _ in range(14):
    loss = nn.functional.cross_entropy(policy(torch.randn(16, 4)), torch.randint(3, (16,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(14):
    obs, action, reward, after = (
        torch.randn(16, 4),
        torch.randn(16, 2),
        torch.randn(16, 1),
        torch.randn(16, 4),
    )
    following = critic(torch.cat([after, actor(after)], -1))
    target = reward + 0.9 * following  # BUG GS301
    actor_loss = -critic(torch.cat([obs, actor(obs)], -1)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()  # BUG GS102
    critic_loss = (critic(torch.cat([obs, action], -1)) - target).pow(2).mean()
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
