"""A hand-made scaled product for a continuous policy forgets to sum its per-sample gradient to the shape of
the shared scale.
Repaired here.

Class: forward errors
"""

import torch
from torch import nn

torch.manual_seed(9)


class ScaledTanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        squashed = torch.tanh(x)
        ctx.save_for_backward(squashed, scale)
        return squashed * scale

    @staticmethod
    def backward(ctx, grad):
        squashed, scale = ctx.saved_tensors
        grad_x = grad * scale * (1 - squashed.pow(2))
        return grad_x, (grad * squashed).sum(0)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, obs):
        return ScaledTanh.apply(self.net(obs), self.scale)


actor = Actor()
optimizer = torch.optim.Adam(actor.parameters(), lr=3e-3)
expert = torch.randn(4, 3)
for update in range(150):
    obs = torch.randn(32, 4)
    demonstration = 2.0 * torch.tanh(obs @ expert)
    loss = (actor(obs) - demonstration).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
