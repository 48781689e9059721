"""Observations are normalised in place in their array after the network has read the tensor that shares its memory.

Round 10
Class: hidden writes
"""

import numpy as np
import torch
from torch import nn

torch.manual_seed(1016)
rng = np.random.default_rng(1016)
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
mean, scale = np.zeros(4, np.float32), np.ones(4, np.float32)
for update in range(50):
    batch = (3 * rng.normal(size=(32, 4)) + 2).astype(np.float32)
    obs = torch.as_tensor(batch)  # BUG GS104
    value = net(obs).squeeze(-1)
    target = torch.from_numpy(batch[:, 0].copy())
    mean += (batch.mean(0) - mean) / (update + 1)
    scale += (batch.std(0) - scale) / (update + 1)
    batch -= mean  # BUG GS104
    batch /= scale  # BUG GS104
    loss = (value - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
