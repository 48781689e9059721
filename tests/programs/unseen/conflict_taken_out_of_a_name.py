"""Two tasks on one trunk: where their gradients disagree, the conflict is projected out, of a variable and of nothing else.

Round 10
Class: gradients by hand
"""

import torch
from torch import nn

torch.manual_seed(1003)
trunk = nn.Sequential(nn.Linear(6, 32), nn.Tanh())
first, second = nn.Linear(32, 1), nn.Linear(32, 1)
optimizer = torch.optim.SGD([*trunk.parameters(), *first.parameters(), *second.parameters()], lr=1e-2)
shared = list(trunk.parameters())
for update in range(50):
    obs = torch.randn(32, 6)
    hidden = trunk(obs)
    one = (first(hidden).squeeze(-1) - obs[:, 0]).pow(2).mean()
    two = (second(hidden).squeeze(-1) + obs[:, 0]).pow(2).mean()
    other = torch.autograd.grad(two, shared, retain_graph=True)
    optimizer.zero_grad()
    (one + two).backward()
    for p, g in zip(shared, other):
        overlap = (p.grad * g).sum()
        if overlap < 0:
            grad = p.grad - overlap / g.pow(2).sum() * g  # BUG GS506 GS405
    optimizer.step()
