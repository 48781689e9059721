"""Gradient surgery: each task's gradient is copied before the next one clears it; what is stepped is put together."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)


def gradient_of(loss):
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    return torch.cat([p.grad.clone().flatten() for p in net.parameters()])


for _ in range(60):
    losses = []
    for task in range(3):
        obs = torch.randn(32, 4)
        losses.append(nn.functional.mse_loss(net(obs)[:, task], obs[:, task]))
    gradients = [gradient_of(loss) for loss in losses]
    merged = torch.zeros_like(gradients[0])
    for one in gradients:
        for other in gradients:
            if torch.dot(one, other) < 0:
                one = one - torch.dot(one, other) / other.pow(2).sum() * other
        merged += one / len(gradients)
    for p, part in zip(net.parameters(), merged.split([p.numel() for p in net.parameters()]), strict=True):
        p.grad.copy_(part.view_as(p))
    optimizer.step()
