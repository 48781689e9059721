# finds: GS211
import torch
from torch import nn


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, power):
        ctx.save_for_backward(x, weight)
        return x * weight

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return grad * weight, (grad * x).sum(0), None
        #! return grad * weight, None, None  # BUG


class Round(torch.autograd.Function):
    """Straight through."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad):
        return grad


net, weight = nn.Linear(3, 4), nn.Parameter(torch.ones(4))
opt = torch.optim.Adam([*net.parameters(), weight], lr=1e-2)
for _ in range(30):
    x = torch.randn(8, 3)
    out = Scale.apply(Round.apply(4 * net(x)), weight, 2)
    loss = (out.sum(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
