"""A worker lends its gradients to the shared network by reference, and clears its own before the shared optimizer steps.

Round 11
Class: gradients by hand
"""

import copy

import torch
from torch import nn

torch.manual_seed(1103)
shared = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 1))
worker = copy.deepcopy(shared)
optimizer = torch.optim.Adam(shared.parameters(), lr=1e-2)
for update in range(40):
    worker.load_state_dict(shared.state_dict())
    obs = torch.randn(16, 4)
    loss = (worker(obs).squeeze(-1) - obs[:, 0]).pow(2).mean()
    worker.zero_grad(set_to_none=False)
    loss.backward()
    for mine, theirs in zip(shared.parameters(), worker.parameters()):
        mine.grad = theirs.grad
    worker.zero_grad(set_to_none=False)  # BUG GS405
    optimizer.step()
