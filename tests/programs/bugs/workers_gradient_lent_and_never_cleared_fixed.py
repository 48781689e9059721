"""As it was written when `zero_grad` left zeros: a tensor that two networks share is cleared for both."""

import torch
from torch import nn


def network():
    return nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))


def lend(local, shared):
    for own, other in zip(local.parameters(), shared.parameters(), strict=True):
        if other.grad is not None:
            return
        other._grad = own.grad


torch.manual_seed(0)
shared = network()
optimizer = torch.optim.SGD(shared.parameters(), lr=0.01)
workers = [network()]

for update in range(24):
    local = workers[0]
    local.load_state_dict(shared.state_dict())
    log_policy = local(torch.randn(16, 3)).log_softmax(-1)
    loss = -(log_policy[:, 0] * torch.randn(16)).mean()
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    lend(local, shared)
    optimizer.step()
