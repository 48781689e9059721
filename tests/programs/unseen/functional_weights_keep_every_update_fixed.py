"""Weights are rebound to their own differentiable update, so that each step's graph holds all the steps
before it.
Repaired here.

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
    gradients = torch.autograd.grad(loss, weights)
    return [(w - lr * g).detach().requires_grad_() for w, g in zip(weights, gradients)]


weights = init([3, 16, 1])
for step in range(60):
    obs, next_obs = torch.randn(16, 3), torch.randn(16, 3)
    loss = td_loss(weights, obs, obs.sum(-1).sin(), next_obs)
    weights = descend(weights, loss)
print("loss", loss.item())
