"""L2 towards cloned initial weights, and shrink-and-perturb under no_grad."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
start = [p.detach().clone() for p in net.parameters()]
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for update in range(20):
    loss = nn.functional.mse_loss(net(torch.randn(16, 4)), torch.randn(16, 2))
    loss = loss + 1e-3 * sum((p - s).pow(2).sum() for p, s in zip(net.parameters(), start))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 8 == 7:
        fresh = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
        with torch.no_grad():
            for p, f in zip(net.parameters(), fresh.parameters()):
                p.mul_(0.8).add_(0.2 * f)
