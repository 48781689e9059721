"""The epoch's loss is added up as a tensor for a line that is printed at the end.

Round 6
Class: stays alive
"""

import torch
from torch import nn

torch.manual_seed(609)


def run_epoch(model, optimizer, batches):
    total = 0.0
    for obs in batches:
        guess = model(obs)
        loss = (guess - obs.roll(1, 1)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss  # BUG GS305
    return total / len(batches)


model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 8))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    mean = run_epoch(model, optimizer, torch.randn(100, 16, 8))
