"""The clamped gradient is bound to a local name and forgotten."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)


def clip_gradients(module, bound):
    for parameter in module.parameters():
        if parameter.grad is not None:
            clipped = torch.clamp(parameter.grad, -bound, bound)  # BUG GS506
            del clipped


for _ in range(12):
    loss = nn.functional.mse_loss(net(torch.randn(16, 4)), 4.0 * torch.randn(16, 2))
    optimizer.zero_grad()
    loss.backward()
    clip_gradients(net, 1.0)
    optimizer.step()
