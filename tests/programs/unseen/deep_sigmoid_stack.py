"""A value network of fourteen sigmoid layers: the first layers' gradient is smaller by many powers of ten
from the start.

Class: magnitude
"""

import torch
from torch import nn

torch.manual_seed(277)


def deep(depth=14, width=24):
    layers = [nn.Linear(4, width)]
    for _ in range(depth):
        layers += [nn.Sigmoid(), nn.Linear(width, width)]  # BUG GS502
    return nn.Sequential(*layers, nn.Tanh(), nn.Linear(width, 1))


value = deep()
optimizer = torch.optim.Adam(value.parameters(), lr=1e-4)
for update in range(120):
    obs = torch.randn(64, 4)
    returns = torch.tanh(obs[:, 0] + obs[:, 1])
    loss = (value(obs).squeeze(-1) - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()  # BUG GS502
    optimizer.step()
print("loss", loss.item())
