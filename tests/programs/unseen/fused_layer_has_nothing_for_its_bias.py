"""A fused layer and activation: its backward gives gradients to input and weight, and none to the bias.

Round 9
Class: custom functions
"""

import torch
from torch import nn

torch.manual_seed(916)


class LinearTanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        y = torch.tanh(x @ weight.t() + bias)
        ctx.save_for_backward(x, weight, y)
        return y

    @staticmethod
    def backward(ctx, grad):  # BUG GS211
        x, weight, y = ctx.saved_tensors
        inner = grad * (1 - y * y)
        return inner @ weight, inner.t() @ x, None  # BUG GS211


class Fused(nn.Linear):
    def forward(self, x):
        return LinearTanh.apply(x, self.weight, self.bias)  # BUG GS211


policy = nn.Sequential(Fused(5, 32), Fused(32, 32), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for update in range(40):
    obs = torch.randn(64, 5)
    dist = torch.distributions.Categorical(logits=policy(obs))
    action = dist.sample()
    reward = (action == (obs[:, 0] > 0).long()).float()
    loss = -(dist.log_prob(action) * (reward - reward.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
