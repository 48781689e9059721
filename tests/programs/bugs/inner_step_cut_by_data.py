"""MAML's inner step is taken on `.data`: the adapted weights are new leaves, and the meta-policy learns nothing."""

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)


def surrogate(weights):
    obs, action, advantage = torch.randn(16, 2), torch.randint(3, (16,)), torch.randn(16)
    logits = functional_call(policy, weights, (obs,))
    return -(torch.distributions.Categorical(logits=logits).log_prob(action) * advantage).mean()


def adapted():
    weights = dict(policy.named_parameters())
    slopes = torch.autograd.grad(surrogate(weights), list(weights.values()), create_graph=True)
    return {
        name: (weight.data - 0.3 * slope.data).requires_grad_()  # BUG GS201 GS202
        for (name, weight), slope in zip(weights.items(), slopes, strict=True)
    }


for _ in range(30):
    loss = torch.stack([surrogate(adapted()) for _ in range(3)]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
