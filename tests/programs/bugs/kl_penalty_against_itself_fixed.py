"""A KL penalty whose reference is the present policy, live: its gradient is nothing."""

import torch
from torch import nn
from torch.distributions import Categorical, kl_divergence

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
reference = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3)).requires_grad_(False)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for _ in range(10):
    obs = torch.randn(32, 4)
    current = Categorical(logits=policy(obs))
    anchor = Categorical(logits=reference(obs))
    loss = kl_divergence(anchor, current).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
