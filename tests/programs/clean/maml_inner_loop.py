"""MAML: the inner update is part of the graph of the outer loss."""

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)


def loss_of(params, obs, action, advantage):
    logits = functional_call(policy, params, (obs,))
    return -(torch.distributions.Categorical(logits=logits).log_prob(action) * advantage).mean()


def batch():
    return torch.randn(16, 3), torch.randint(2, (16,)), torch.randn(16)


for _ in range(8):
    outer = 0.0
    for _ in range(3):
        params = dict(policy.named_parameters())
        gradients = torch.autograd.grad(loss_of(params, *batch()), params.values(), create_graph=True)
        adapted = {name: p - 0.1 * g for (name, p), g in zip(params.items(), gradients)}
        outer = outer + loss_of(adapted, *batch())
    optimizer.zero_grad()
    outer.backward()
    optimizer.step()
