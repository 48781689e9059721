"""The losses are put into a list for a plot, each with its graph."""

import torch
from torch import nn

torch.manual_seed(0)
q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
losses = []
for update in range(120):
    obs, action, goal = torch.randn(16, 4), torch.randint(2, (16, 1)), torch.randn(16)
    loss = nn.functional.smooth_l1_loss(q(obs).gather(1, action).squeeze(1), goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss)  # BUG GS305 GS102
print(float(sum(losses[-10:])))
