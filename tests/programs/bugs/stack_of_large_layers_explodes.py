"""Twelve layers with weights of a spread of one: what comes back grows from layer to layer."""

import torch
from torch import nn

torch.manual_seed(0)
layers = nn.ModuleList(nn.Linear(32, 32) for _ in range(12))
head = nn.Linear(32, 1)
for layer in layers:
    nn.init.normal_(layer.weight, std=1.0)  # BUG GS501
optimizer = torch.optim.Adam([*layers.parameters(), *head.parameters()], lr=1e-5)
for update in range(40):
    x = torch.randn(16, 32)
    for layer in layers:
        x = nn.functional.leaky_relu(layer(x), 0.2)  # BUG GS501
    loss = (head(x) - 1.0).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()  # BUG GS501
    optimizer.step()
