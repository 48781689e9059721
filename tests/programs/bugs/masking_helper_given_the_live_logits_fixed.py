"""A helper masks in place what it is given: right for a copy of the rollout, wrong for what the loss has saved."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3), nn.Tanh())
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)


def forbid(scores, allowed):
    scores[~allowed] = -10.0
    return scores


for update in range(20):
    obs, allowed = torch.randn(16, 4), torch.rand(16, 3) < 0.8
    allowed[:, 0] = True
    with torch.no_grad():
        action = Categorical(logits=forbid(policy(obs), allowed)).sample()
    raw = policy(obs)
    logits = forbid(raw.clone(), allowed)
    loss = -(Categorical(logits=logits).log_prob(action) * torch.randn(16)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
