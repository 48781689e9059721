"""A hand-made linear layer asks for its gradients with indices that are off by one: as the input is frozen
features, the weight gets none.
Repaired here.

Class: custom functions
"""

import torch
from torch import nn

torch.manual_seed(269)


class LinearFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return x @ weight.T + bias

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        grad_x = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_x = grad @ weight
        if ctx.needs_input_grad[1]:
            grad_weight = grad.T @ x
        if ctx.needs_input_grad[2]:
            grad_bias = grad.sum(0)
        return grad_x, grad_weight, grad_bias


class FrozenFeatures(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(6, 64), nn.ReLU()).requires_grad_(False)
        self.weight = nn.Parameter(0.1 * torch.randn(3, 64))
        self.bias = nn.Parameter(torch.zeros(3))

    def forward(self, obs):
        return LinearFunction.apply(self.features(obs), self.weight, self.bias)


q_net = FrozenFeatures()
optimizer = torch.optim.Adam([q_net.weight, q_net.bias], lr=1e-2)
for update in range(200):
    obs = torch.randn(32, 6)
    action = torch.randint(0, 3, (32, 1))
    reward = obs.gather(1, action).squeeze(1)
    loss = (q_net(obs).gather(1, action).squeeze(1) - reward).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
