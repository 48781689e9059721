"""A worker lends its gradients to the shared network; `zero_grad` takes them back there, the worker keeps its own."""

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
workers = [network(), network()]

for update in range(24):
    local = workers[update % 2]
    local.load_state_dict(shared.state_dict())
    log_policy = local(torch.randn(16, 3)).log_softmax(-1)
    loss = -(log_policy[:, 0] * torch.randn(16)).mean()
    optimizer.zero_grad()  # BUG GS401
    loss.backward()
    lend(local, shared)
    optimizer.step()  # BUG GS401
