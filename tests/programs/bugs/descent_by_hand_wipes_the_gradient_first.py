"""Plain descent without an optimizer: the gradients are cleared before they are applied."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
for update in range(30):
    obs = torch.randn(16, 4)
    loss = (net(obs).squeeze(-1) - obs.sum(-1)).pow(2).mean()
    loss.backward()
    net.zero_grad(set_to_none=False)  # BUG GS405
    with torch.no_grad():
        for p in net.parameters():
            p -= 0.05 * p.grad
