"""Back-propagation through known dynamics: no log-probability, the state itself carries the gradient."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)


def dynamics(state, force):
    position, velocity = state.unbind(-1)
    velocity = 0.95 * velocity + 0.1 * force.squeeze(-1) - 0.02 * torch.sin(position)
    return torch.stack([position + 0.1 * velocity, velocity], -1)


for _ in range(8):
    state, cost = torch.randn(16, 2), 0.0
    for _ in range(10):
        action = torch.tanh(policy(state))
        state = dynamics(state, action)
        cost = cost + (state.pow(2).sum(-1) + 0.1 * action.pow(2).squeeze(-1)).mean()
    optimizer.zero_grad()
    cost.backward()
    optimizer.step()
