"""Time × environments: the log-probabilities are [T, N], the advantages [T, N, 1]."""

import torch
from torch import nn

torch.manual_seed(0)
pi = nn.Linear(4, 3)
v = nn.Linear(4, 1)
optimizer = torch.optim.Adam([*pi.parameters(), *v.parameters()], lr=1e-3)
for _ in range(12):
    obs, action, returns = torch.randn(8, 8, 4), torch.randint(3, (8, 8)), torch.randn(8, 8, 1)
    log_prob = torch.distributions.Categorical(logits=pi(obs)).log_prob(action)
    value = v(obs)
    advantage = (returns - value).detach()
    policy_loss = -(log_prob * advantage).mean()  # BUG GS601
    loss = policy_loss + 0.5 * (value - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
