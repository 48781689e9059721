"""Q-learning without an optimizer, each weight moved by its own gradient; the target is live."""

import torch
from torch import nn

q = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
for _ in range(40):
    s, a, r, s2 = torch.randn(16, 3), torch.randint(2, (16, 1)), torch.randn(16), torch.randn(16, 3)
    y = r + 0.9 * q(s2).max(1).values  # BUG GS301
    loss = (q(s).gather(1, a).squeeze(1) - y).pow(2).mean()
    q.zero_grad()
    loss.backward()
    for p in q.parameters():
        p.data -= 0.05 * p.grad.data
