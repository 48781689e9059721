"""The loss calls the encoder functionally with detached parameters."""

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(5, 12), nn.Tanh())
head = nn.Linear(12, 1)
optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=1e-3)


def encode(obs):
    weights = {k: p.detach() for k, p in encoder.named_parameters()}  # BUG GS202
    return functional_call(encoder, weights, (obs,))


for _ in range(12):
    loss = (head(encode(torch.randn(16, 5))).squeeze(-1) - torch.randn(16)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
