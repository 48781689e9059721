"""A sharp temperature drives a probability to zero, and its logarithm is taken.

Round 5
Class: magnitude
"""

import torch
from torch import nn

torch.manual_seed(516)

policy = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 6))
optimizer = torch.optim.SGD(policy.parameters(), lr=1e-2)
for update in range(30):
    obs = 3.0 * torch.randn(64, 4)
    logits = policy(obs) / 0.002
    action = torch.randint(6, (64, 1))
    reward = (action.squeeze(1) == 2).float()
    chosen = torch.softmax(logits, -1).gather(1, action)  # BUG GS503 GS602
    logp = torch.log(chosen).squeeze(1)  # BUG GS503 GS602
    loss = -(logp * (reward - reward.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
