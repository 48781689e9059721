"""The helper for the divergence is right with a frozen old policy and wrong here, where both sides are the policy."""

import torch
from torch import nn
from torch.distributions import Categorical, kl_divergence

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)


def distribution(obs):
    return Categorical(logits=policy(obs))


def divergence(old, new):
    return kl_divergence(old, new).mean()


for update in range(20):
    obs = torch.randn(16, 4)
    old = distribution(obs)  # BUG GS209
    loss = divergence(old, distribution(obs))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
