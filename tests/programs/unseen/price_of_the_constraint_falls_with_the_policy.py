"""A constrained policy gradient: the multiplier is a parameter of the same optimizer and live in the policy's loss.

Round 4
Class: weights
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(419)

policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
price = nn.Parameter(torch.tensor(0.5))
policy_optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
price_optimizer = torch.optim.Adam([price], lr=1e-2)
for update in range(60):
    obs = torch.randn(64, 4)
    with torch.no_grad():
        old = Categorical(logits=policy(obs))
        action = old.sample()
        old_logp = old.log_prob(action)
    reward = (action == 0).float()
    cost = (action == 0).float() * (obs[:, 0] > 0).float()
    for epoch in range(2):
        ratio = (Categorical(logits=policy(obs)).log_prob(action) - old_logp).exp()
        gain = (ratio * (reward - reward.mean())).mean()
        damage = (ratio * (cost - 0.1)).mean()
        loss = -gain + F.softplus(price) * damage  # BUG GS304
        policy_optimizer.zero_grad()
        loss.backward()
        policy_optimizer.step()
    price_loss = -(F.softplus(price) * (cost.mean() - 0.1))
    price_loss.backward()
    price_optimizer.step()
    price_optimizer.zero_grad()
