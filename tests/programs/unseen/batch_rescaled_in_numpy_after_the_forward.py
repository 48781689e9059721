"""The sampled batch is normalised in its array after a tensor of it went through the network.

Round 6
Class: hidden writes
"""

import numpy as np
import torch
from torch import nn

torch.manual_seed(612)
rng = np.random.default_rng(612)

critic = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for update in range(40):
    batch = rng.normal(3.0, 2.0, size=(32, 5)).astype(np.float32)
    value = critic(torch.from_numpy(batch)).squeeze(-1)  # BUG GS104
    batch -= batch.mean(0)  # BUG GS104
    goal = torch.tensor(batch[:, 0] * 0.5)
    loss = (value - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
