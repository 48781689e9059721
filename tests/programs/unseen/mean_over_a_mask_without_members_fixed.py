"""A masked mean over the samples of a task: in some batches the task does not occur.
Repaired here.

Round 6
Class: magnitude
"""

import torch
from torch import nn

torch.manual_seed(614)


def masked_mean(x, mask):
    return (x * mask).sum() / mask.sum().clamp(min=1)


critic = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for update in range(30):
    obs = torch.randn(16, 6)
    task = torch.randint(0, 2 if update == 12 else 3, (16,))
    errors = (critic(obs).squeeze(-1) - obs[:, 0]).pow(2)
    loss = sum(masked_mean(errors, (task == t).float()) for t in range(3))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
