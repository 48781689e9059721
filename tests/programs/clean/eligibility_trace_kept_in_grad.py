"""TD(lambda): .grad itself is the eligibility trace, decayed in place and never cleared in an episode."""

import torch
from torch import nn

v = nn.Linear(4, 1)
for ep in range(4):
    v.zero_grad()
    s = torch.randn(4)
    for t in range(12):
        s2, r = torch.randn(4), torch.randn(())
        with torch.no_grad():
            delta = r + 0.9 * v(s2) - v(s)
        v(s).sum().backward()
        with torch.no_grad():
            for p in v.parameters():
                p += 0.05 * delta * p.grad
                p.grad.mul_(0.9 * 0.8)
        s = s2
