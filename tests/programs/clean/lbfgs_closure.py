"""LBFGS fits a value function with a closure that runs backward several times per step."""

import torch
from torch import nn

torch.manual_seed(0)
value = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.LBFGS(value.parameters(), lr=0.1, max_iter=6)
for _ in range(4):
    obs, returns = torch.randn(32, 3), torch.randn(32, 1)

    def closure(obs=obs, returns=returns):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(value(obs), returns)
        loss = loss + 1e-3 * sum(p.pow(2).sum() for p in value.parameters())
        loss.backward()
        return loss

    optimizer.step(closure)
