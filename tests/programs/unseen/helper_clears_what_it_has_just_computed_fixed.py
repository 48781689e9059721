"""A helper for all optimizers clears between backward and step where a flag is set, as one of its callers does.
Repaired here.

Round 10
Class: the line
"""

import torch
from torch import nn

torch.manual_seed(1020)


def optimise(optimizer, loss, fresh=False):
    loss.backward()
    if fresh:
        optimizer.zero_grad()
    optimizer.step()
    optimizer.zero_grad()


actor = nn.Sequential(nn.Linear(5, 24), nn.Tanh(), nn.Linear(24, 2))
critic = nn.Sequential(nn.Linear(7, 24), nn.Tanh(), nn.Linear(24, 1))
actor_opt = torch.optim.SGD(actor.parameters(), lr=1e-2)
critic_opt = torch.optim.SGD(critic.parameters(), lr=1e-2)
for update in range(40):
    obs, action = torch.randn(32, 5), torch.randn(32, 2)
    reward = obs[:, :1] - action.pow(2).sum(-1, keepdim=True)
    error = critic(torch.cat([obs, action], -1)) - reward
    optimise(critic_opt, error.pow(2).mean())
    critic.requires_grad_(False)
    optimise(actor_opt, -critic(torch.cat([obs, actor(obs)], -1)).mean())
    critic.requires_grad_(True)
