"""Values of finished episodes are cleared through a NumPy view while the graph still needs them.

Class: hidden writes
"""

import numpy as np
import torch
from torch import nn

torch.manual_seed(227)
rng = np.random.default_rng(227)


class PositiveValue(nn.Module):
    """Returns are positive here, so the value ends in an exponential."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, obs):
        return self.net(obs).squeeze(-1).exp()


def bootstrap(value, done):
    """The value as a plain array, zero where the episode ended."""
    array = value.detach().numpy()  # BUG GS104
    array[done] = 0.0  # BUG GS104
    return array


network = PositiveValue()
optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
for update in range(150):
    obs = torch.randn(32, 4)
    done = rng.random(32) < 0.3
    value = network(obs)
    returns = torch.sigmoid(obs[:, 0]) + 0.2
    error = value - returns
    after = bootstrap(value, done)
    loss = error.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item(), "kept", float(after.mean()))
