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
    with torch.no_grad():
        old = distribution(obs)
    for epoch in range(2):
        action, gain = torch.randint(3, (16,)), torch.randn(16)
        dist = distribution(obs)
        loss = -(dist.log_prob(action) * gain).mean() + divergence(old, dist)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
