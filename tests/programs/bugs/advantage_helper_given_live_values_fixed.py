"""The helper that normalises is given numbers by one caller and values with a graph by the other."""

import torch
from torch import nn

torch.manual_seed(0)
policy, value = nn.Linear(4, 3), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=1e-3)


def normalise(x):
    return (x - x.mean()) / (x.std() + 1e-8)


for update in range(20):
    obs, action, returns = torch.randn(16, 4), torch.randint(3, (16, 1)), torch.randn(16)
    scaled = normalise(returns)
    log_prob = torch.log_softmax(policy(obs), -1).gather(1, action).squeeze(1)
    estimate = value(obs).squeeze(-1)
    advantage = normalise(scaled - estimate.detach())
    loss = -(log_prob * advantage).mean() + 0.5 * (scaled - estimate).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
