"""The soft update assigns to the loop variable, which changes no parameter."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
slow = copy.deepcopy(critic)
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)


@torch.no_grad()
def soft_update(tau=0.01):
    for theta, theta_slow in zip(critic.parameters(), slow.parameters()):
        theta_slow.copy_(tau * theta + (1 - tau) * theta_slow)


for _ in range(40):
    pair, next_pair, reward = torch.randn(16, 5), torch.randn(16, 5), torch.randn(16, 1)
    with torch.no_grad():
        wanted = reward + 0.99 * slow(next_pair)
    loss = nn.functional.mse_loss(critic(pair), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    soft_update()
