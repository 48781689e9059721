"""A hand-made clip scales a name, not the gradient.

Round 6
Class: gradients by hand
"""

import torch
from torch import nn

torch.manual_seed(604)

critic = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(critic.parameters(), lr=1e-2)


def limit_gradients(network, most):
    for p in network.parameters():
        grad = p.grad
        norm = grad.norm()
        if norm > most:
            grad = grad * (most / norm)  # BUG GS506


for update in range(40):
    obs = torch.randn(32, 5)
    loss = (critic(obs).squeeze(-1) - 5.0 * obs[:, 0]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    limit_gradients(critic, 0.1)
    optimizer.step()
