"""DDPG: exploration noise is added in place to the tanh output that the actor's backward needs."""

import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-4)
for parameter in critic.parameters():
    parameter.requires_grad_(False)


def perturbed(action, sigma=0.1):
    noise = torch.clamp(sigma * torch.randn_like(action), -0.2, 0.2)
    action += noise  # BUG GS101
    return action


def improve(states):
    actions = perturbed(actor(states))
    objective = critic(torch.cat([states, actions], dim=1)).mean()
    actor_optimizer.zero_grad()
    (-objective).backward()
    actor_optimizer.step()


for _ in range(10):
    improve(torch.randn(32, 3))
