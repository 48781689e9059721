"""A tour's length is to be made short: the score function is weighted with a cost, less a critic's estimate of it.
Likewise a clipped surrogate of a cost, with the pessimistic bound on the other side."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 5))
critic = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=1e-3)
for _ in range(14):
    cities = torch.rand(16, 6)
    dist = Categorical(logits=policy(cities))
    choice = dist.sample()
    cost = cities.sum(-1) + choice.float()
    baseline = critic(cities).squeeze(-1)
    reinforce = ((cost - baseline.detach()) * dist.log_prob(choice)).mean()
    loss = reinforce + (baseline - cost).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

for _ in range(4):
    cities = torch.rand(32, 6)
    with torch.no_grad():
        dist = Categorical(logits=policy(cities))
        choice = dist.sample()
        old = dist.log_prob(choice)
    cost = cities.sum(-1) + choice.float()
    excess = cost - cost.mean()
    for _ in range(4):
        ratio = (Categorical(logits=policy(cities)).log_prob(choice) - old).exp()
        loss = torch.max(ratio * excess, ratio.clamp(0.8, 1.2) * excess).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
