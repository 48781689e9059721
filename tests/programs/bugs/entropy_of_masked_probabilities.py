"""Entropy written by hand: zero times the logarithm of zero."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)


def masked_policy(obs, legal):
    logits = policy(obs).masked_fill(~legal, float("-inf"))
    return torch.softmax(logits, dim=-1)


def entropy(probs):
    return -(probs * probs.log()).sum(-1)  # BUG GS503 GS602


for _ in range(6):
    obs, advantage = torch.randn(8, 5), torch.randn(8)
    legal = torch.ones(8, 4, dtype=torch.bool)
    legal[::2, 3] = False
    probs = masked_policy(obs, legal)
    dist = torch.distributions.Categorical(probs)
    loss = -(dist.log_prob(dist.sample()) * advantage).mean() - 0.01 * entropy(probs).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
