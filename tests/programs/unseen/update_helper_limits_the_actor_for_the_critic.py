"""A helper clears, runs backward, limits and steps; one of its callers hands it the other network's parameters.

Round 8
Class: the line
"""

import torch
from torch import nn

torch.manual_seed(821)


def apply(loss, optimizer, params, limit=0.5):
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, limit)  # BUG GS505
    optimizer.step()


actor = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(7, 32), nn.Tanh(), nn.Linear(32, 1))
actor_params, critic_params = list(actor.parameters()), list(critic.parameters())
actor_opt = torch.optim.Adam(actor_params, lr=1e-3)
critic_opt = torch.optim.Adam(critic_params, lr=1e-3)
for update in range(60):
    obs, action = torch.randn(32, 5), torch.randn(32, 2)
    target = 30 * obs[:, :1] - action.pow(2).sum(-1, keepdim=True)
    value = critic(torch.cat([obs, action], -1))
    apply((value - target).pow(2).mean(), critic_opt, actor_params)  # BUG GS505
    critic.requires_grad_(False)
    objective = critic(torch.cat([obs, actor(obs)], -1)).mean()
    apply(-objective, actor_opt, actor_params)
    critic.requires_grad_(True)
