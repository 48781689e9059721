"""The gradients are clipped after the optimizer has used them."""

import torch
from torch import nn

torch.manual_seed(0)
q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.RMSprop(q.parameters(), lr=1e-3)


def finish(loss):
    loss.backward()
    optimizer.step()
    nn.utils.clip_grad_value_(q.parameters(), 1.0)  # BUG GS504
    optimizer.zero_grad()


for _ in range(12):
    finish(nn.functional.mse_loss(q(torch.randn(16, 4)), 5.0 * torch.randn(16, 2)))
