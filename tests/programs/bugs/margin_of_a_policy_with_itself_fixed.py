"""The reference side of a squared margin is a constant."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Linear(4, 3)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


def log_prob(obs, action):
    return policy(obs).log_softmax(-1).gather(1, action)


for _ in range(12):
    obs, action = torch.randn(32, 4), torch.randint(3, (32, 1))
    own = log_prob(obs, action)
    reference = log_prob(obs, action).detach()
    margin = own - reference
    loss = (margin - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
