"""A hand-made squared error per sample returns its own derivative, whatever weight the samples have in the loss.

Round 8
Class: custom functions
"""

import torch
from torch import nn

torch.manual_seed(817)


class SquaredError(torch.autograd.Function):
    @staticmethod
    def forward(ctx, prediction, target):
        difference = prediction - target
        ctx.save_for_backward(difference)
        return difference.pow(2)

    @staticmethod
    def backward(ctx, grad_output):  # BUG GS211
        (difference,) = ctx.saved_tensors
        return 2 * difference / difference.numel(), None  # BUG GS211


net = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for update in range(60):
    obs = torch.randn(48, 5)
    weights = torch.rand(48)
    error = SquaredError.apply(net(obs).squeeze(-1), obs[:, 0])  # BUG GS211
    loss = (weights * error).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
