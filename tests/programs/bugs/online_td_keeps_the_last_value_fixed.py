"""Online actor-critic: the value of the last step is kept, and the optimizer steps before it is used."""

import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
obs = torch.randn(3)
for step in range(8):
    value = critic(obs)
    next_obs, reward = 0.9 * obs + 0.1 * torch.randn(3), float(-obs.abs().sum())
    next_value = critic(next_obs)
    delta = reward + 0.95 * next_value.detach() - value
    optimizer.zero_grad()
    delta.pow(2).sum().backward()
    optimizer.step()
    obs = next_obs
