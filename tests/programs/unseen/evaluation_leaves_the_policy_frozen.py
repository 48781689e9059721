"""Evaluation freezes the policy for speed; where an episode ends early it returns without thawing it.

Round 3
Class: late and rare
"""

import torch
from torch import nn

torch.manual_seed(310)
policy = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2))
head = nn.Linear(2, 1)
optimizer = torch.optim.Adam([*policy.parameters(), *head.parameters()], lr=1e-3)


def evaluate(threshold):
    policy.requires_grad_(False)  # BUG GS207
    obs, total = torch.zeros(1, 4), 0.0
    for t in range(10):
        action = policy(obs)
        obs = torch.cat([action, obs[:, :2] + 0.1], -1)
        total += float(obs.sum())
        if total > threshold:
            return total  # BUG GS207
    policy.requires_grad_(True)
    return total


for update in range(150):
    obs = torch.randn(32, 4)
    loss = (head(torch.tanh(policy(obs))).squeeze(-1) - obs[:, 0]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 50 == 49:
        evaluate(threshold=-100.0)
