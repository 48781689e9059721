"""Offline Q-learning over tokens: the penalty's log-sum is taken of detached values.

Round 7
Class: llm-rl
"""

import copy

import torch
from torch import nn

torch.manual_seed(716)

q = nn.Sequential(nn.Embedding(10, 24), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 10))
old = copy.deepcopy(q).requires_grad_(False)
optimizer = torch.optim.AdamW(q.parameters(), lr=1e-3)
for step in range(50):
    ids = torch.randint(10, (8, 9))
    values = q(ids[:, :-1])
    chosen = values.gather(2, ids[:, 1:, None]).squeeze(2)
    reward = (ids[:, 1:] == 3).float()
    goal = reward[:, :-1] + 0.9 * old(ids[:, 1:-1]).amax(-1)
    td = (chosen[:, :-1] - goal).pow(2).mean()
    penalty = torch.logsumexp(values.detach(), -1).mean() - chosen.mean()  # BUG GS202
    loss = td + 0.2 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for a, b in zip(old.parameters(), q.parameters()):
        a.data.lerp_(b.data, 0.05)
