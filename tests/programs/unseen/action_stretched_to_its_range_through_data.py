"""The squashed action is stretched to the range of the environment through `.data`, in the tensor that its slope is read from.

Round 11
Class: hidden writes
"""

import torch
from torch import nn

torch.manual_seed(1114)
actor = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
RANGE = 0.4
for step in range(50):
    obs, tried = torch.randn(32, 4), RANGE * (2 * torch.rand(32, 2) - 1)
    reward = -(tried - 0.3 * obs[:, :2]).pow(2).sum(-1, keepdim=True)
    critic_opt.zero_grad()
    (critic(torch.cat([obs, tried], -1)) - reward).pow(2).mean().backward()
    critic_opt.step()
    action = torch.tanh(actor(obs))
    action.data.mul_(RANGE)  # BUG GS104
    actor_opt.zero_grad()
    (-critic(torch.cat([obs, action], -1)).mean()).backward()
    actor_opt.step()
