"""loss.backward is named and not called: every step finds nothing."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(12):
    obs, action, wanted = torch.randn(16, 4), torch.randint(2, (16, 1)), torch.randn(16, 1)
    loss = nn.functional.mse_loss(net(obs).gather(1, action), wanted)
    optimizer.zero_grad()
    loss.backward  # noqa: B018  # BUG GS404
    optimizer.step()
