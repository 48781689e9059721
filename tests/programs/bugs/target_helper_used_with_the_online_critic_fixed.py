"""The helper that makes targets is called under no_grad for the one critic and with gradients for the other."""

import torch
from torch import nn

torch.manual_seed(0)
first, second = nn.Linear(4, 1), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=1e-3)


def bootstrap(net, reward, following, gamma=0.95):
    return reward + gamma * net(following)


def fit(net, obs, goal):
    return (net(obs) - goal).pow(2).mean()


for update in range(20):
    obs, following, reward = torch.randn(16, 4), torch.randn(16, 4), torch.randn(16, 1)
    with torch.no_grad():
        goal = bootstrap(first, reward, following)
    other = bootstrap(second, reward, following).detach()
    loss = fit(first, obs, goal) + fit(second, obs, other)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
