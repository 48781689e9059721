"""The logarithm of what may be zero is kept out of the loss by a `where`, and comes back as not a number in backward.

Round 10
Class: magnitude
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1019)
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for update in range(20):
    obs = torch.randn(64, 4)
    active = (torch.rand(64) > 0.2).float()
    rate = F.softplus(model(obs).squeeze(-1)) * active
    count = torch.poisson(obs[:, 0].abs())
    fits = torch.where(rate > 0, count * rate.log() - rate, 0.0)  # BUG GS503
    loss = -fits.sum() / active.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
