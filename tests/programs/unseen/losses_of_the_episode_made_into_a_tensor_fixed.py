"""REINFORCE: the losses of all steps are gathered in a list and made into a new tensor that requires grad.
Repaired here.

Round 9
Class: forward errors
"""

import torch
from torch import nn

torch.manual_seed(902)
policy = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


def episode(length=20):
    found, rewards = [], []
    for _ in range(length):
        obs = torch.randn(4)
        dist = torch.distributions.Categorical(logits=policy(obs))
        action = dist.sample()
        found.append(dist.log_prob(action))
        rewards.append(float(action.item() == int(obs[0] > 0)))
    return found, rewards


for update in range(40):
    log_probs, rewards = episode()
    baseline = sum(rewards) / len(rewards)
    losses = [-lp * (r - baseline) for lp, r in zip(log_probs, rewards)]
    loss = torch.stack(losses).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
