"""Ten sigmoid layers in a plain loop: nothing reaches the first of them, from the start."""

import torch
from torch import nn

torch.manual_seed(0)


class Tower(nn.Module):
    def __init__(self, depth=10):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(16 if i else 4, 16) for i in range(depth))
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        for layer in self.layers:
            x = nn.functional.silu(nn.functional.layer_norm(layer(x), (16,)))
        return self.out(x)


value = Tower()
optimizer = torch.optim.SGD(value.parameters(), lr=1e-2)
for update in range(40):
    obs = torch.randn(32, 4)
    loss = (value(obs).squeeze(-1) - obs.sum(-1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
