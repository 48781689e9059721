"""An entropy bonus whose coefficient is annealed through zero: late in training the policy is to decide."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
updates = 24
for update in range(updates):
    coefficient = 0.02 - 0.03 * update / updates
    obs, advantage = torch.randn(32, 4), torch.randn(32)
    dist = Categorical(logits=policy(obs))
    action = dist.sample()
    loss = -(dist.log_prob(action) * advantage).mean() - coefficient * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
