"""A curriculum's weight is the improvement over the loss before, which is kept with its graph.
Repaired here.

Round 7
Class: stays alive
"""

import torch
from torch import nn

torch.manual_seed(706)

model = nn.Sequential(nn.Linear(5, 24), nn.Tanh(), nn.Linear(24, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
before = None
for update in range(30):
    obs = torch.randn(16, 5)
    loss = (model(obs) - obs.roll(1, 1)).pow(2).mean()
    total = loss
    if before is not None:
        total = loss + 0.1 * (loss - before)
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    before = loss.detach()
