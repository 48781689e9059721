"""Weights are rebound to their own differentiable update, so that each step's graph holds all the steps
before it.

Class: gradients by hand
"""

from itertools import pairwise

import torch

torch.manual_seed(43)


def init(sizes):
    weights = []
    for rows, cols in pairwise(sizes):
        weights.append((torch.randn(rows, cols) / rows**0.5).requires_grad_())
        weights.append(torch.zeros(cols, requires_grad=True))
    return weights


def forward(weights, x):
    w1, b1, w2, b2 = weights
    return torch.tanh(x @ w1 + b1) @ w2 + b2


def td_loss(weights, obs, reward, next_obs):
    with torch.no_grad():
        target = reward + 0.8 * forward(weights, next_obs).squeeze(-1)
    return (forward(weights, obs).squeeze(-1) - target).pow(2).mean()


def descend(weights, loss, lr=0.05):
    gradients = torch.autograd.grad(loss, weights, create_graph=True)  # BUG GS305
    return [w - lr * g for w, g in zip(weights, gradients)]  # BUG GS305


weights = init([3, 16, 1])
for step in range(60):
    obs, next_obs = torch.randn(16, 3), torch.randn(16, 3)
    loss = td_loss(weights, obs, obs.sum(-1).sin(), next_obs)
    weights = descend(weights, loss)
print("loss", loss.item())
