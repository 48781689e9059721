"""Behaviour cloning: probabilities are gathered first, then logged."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)


def likelihood(obs, action):
    probs = nn.functional.softmax(net(obs), dim=1)
    return torch.log(probs.gather(1, action))  # BUG GS602


for _ in range(12):
    loss = -likelihood(torch.randn(16, 4), torch.randint(3, (16, 1))).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
