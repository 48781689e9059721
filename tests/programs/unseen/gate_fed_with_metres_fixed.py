"""A gated value network is fed raw positions of thousands of metres: its sigmoid is exactly zero or one.
Repaired here.

Class: zero in part
"""

import numpy as np
import torch
from torch import nn

torch.manual_seed(61)
rng = np.random.default_rng(61)


class GatedValue(nn.Module):
    def __init__(self, obs_dim=3, width=24):
        super().__init__()
        self.gate = nn.Linear(obs_dim, width)
        self.content = nn.Linear(obs_dim, width)
        self.out = nn.Linear(width, 1)

    def forward(self, position):
        position = position / 2000.0
        gate = torch.sigmoid(self.gate(position))
        content = torch.tanh(self.content(position))
        return self.out(gate * content).squeeze(-1)


def flight(batch=32):
    """Positions in metres; the closer to the pad, the larger the return."""
    position = rng.uniform(-4000.0, 4000.0, size=(batch, 3)).astype(np.float32)
    returns = -np.abs(position).mean(1) / 4000.0
    return torch.from_numpy(position), torch.from_numpy(returns)


network = GatedValue()
optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
for update in range(200):
    position, returns = flight()
    loss = (network(position) - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
