"""Online actor-critic: the value of the last step is kept, and the optimizer steps before it is used."""

import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
obs = torch.randn(3)
value = critic(obs)  # BUG GS102 GS402 GS305
for step in range(8):
    next_obs, reward = 0.9 * obs + 0.1 * torch.randn(3), float(-obs.abs().sum())
    next_value = critic(next_obs)  # BUG GS102 GS402 GS305
    delta = reward + 0.95 * next_value.detach() - value
    optimizer.zero_grad()
    delta.pow(2).sum().backward()
    optimizer.step()  # BUG GS102
    obs, value = next_obs, next_value  # BUG GS102 GS402 GS305
