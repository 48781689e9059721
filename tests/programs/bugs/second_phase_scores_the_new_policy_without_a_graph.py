"""Cloning, then PPO: the new policy, too, is scored without a graph, in a phase that nobody traced from its start."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for _ in range(40):
    obs, expert = torch.randn(16, 4), torch.randint(3, (16,))
    loss = nn.functional.cross_entropy(policy(obs), expert)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
for _ in range(4):
    obs, advantage = torch.randn(16, 4), torch.randn(16)
    with torch.no_grad():
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        old = dist.log_prob(action)
    for _ in range(3):
        with torch.no_grad():  # BUG GS201
            ratio = (Categorical(logits=policy(obs)).log_prob(action) - old).exp()  # BUG GS201
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
