"""Evolution strategies write their estimate into `.grad` and let Adam step; it is added to what is there already.

Round 8
Class: gradients by hand
"""

import torch
from torch import nn

torch.manual_seed(804)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
params = list(policy.parameters())


@torch.no_grad()
def fitness(obs, goal):
    return -(policy(obs) - goal).pow(2).mean()


for generation in range(60):
    obs = torch.randn(32, 4)
    goal = obs[:, :2]
    estimate = [torch.zeros_like(p) for p in params]
    for _ in range(8):
        noise = [torch.randn_like(p) for p in params]
        with torch.no_grad():
            for p, e in zip(params, noise):
                p.add_(0.05 * e)
            score = fitness(obs, goal)
            for p, e in zip(params, noise):
                p.sub_(0.1 * e)
            score = score - fitness(obs, goal)
            for p, e, g in zip(params, noise, estimate):
                p.add_(0.05 * e)
                g.sub_(score / 0.1 * e / 8)
    for p, g in zip(params, estimate):
        p.grad = g if p.grad is None else p.grad + g  # BUG GS401
    optimizer.step()  # BUG GS401
