"""Probabilities are kept from zero by a clamp on their data, after the softmax has kept its result for backward.
Repaired here.

Round 3
Class: hidden writes
"""

import torch
from torch import nn

torch.manual_seed(312)
policy = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 4))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)


def probabilities(obs):
    p = torch.softmax(6.0 * policy(obs), dim=-1)
    return p.clamp(min=0.05)


for update in range(50):
    obs = torch.randn(64, 4)
    p = probabilities(obs)
    action = torch.multinomial(p.detach(), 1)
    reward = (action.squeeze(1) == obs.argmax(1)).float()
    chosen = p.gather(1, action).squeeze(1)
    loss = -(chosen.log() * (reward - reward.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
