"""A hand-made momentum accumulates gradients that were asked for with a graph of their own.

Round 5
Class: gradients by hand
"""

import torch
from torch import nn

torch.manual_seed(503)

critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
params = list(critic.parameters())
moments = [torch.zeros_like(p) for p in params]
for update in range(60):
    obs = torch.randn(32, 4)
    loss = (critic(obs).squeeze(-1) - obs.sum(-1)).pow(2).mean()
    grads = torch.autograd.grad(loss, params, create_graph=True)  # BUG GS305
    moments = [0.9 * m + 0.1 * g for m, g in zip(moments, grads)]  # BUG GS305
    with torch.no_grad():
        for p, m in zip(params, moments):
            p.sub_(0.05 * m)
