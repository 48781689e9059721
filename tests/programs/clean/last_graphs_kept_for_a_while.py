"""Values with a graph that are let go again: the last loss, a short queue, a list that is emptied now and then."""

from collections import deque

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
recent, since = deque(maxlen=5), []
for step in range(40):
    loss = (net(torch.randn(16, 4)) - 1.0).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    recent.append(loss)
    since.append(loss)
    if step % 5 == 4:
        print("loss", torch.stack(since).mean().item())
        since.clear()
print("last", loss.item())
