"""A replay weight per sequence multiplies a loss per sequence and step along the steps: both are sixteen.
Repaired here.

Class: axes
"""

import numpy as np
import torch
from torch import nn

torch.manual_seed(103)
rng = np.random.default_rng(103)
SEQUENCES = STEPS = 16


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(3, 24, batch_first=True)
        self.q = nn.Linear(24, 2)

    def forward(self, obs):
        return self.q(self.gru(obs)[0])


def replay():
    """Sequences with their sampling probabilities, as a prioritised buffer gives them."""
    priority = rng.uniform(0.1, 2.0, size=SEQUENCES)
    weight = (priority / priority.sum() * SEQUENCES) ** -0.5
    obs = rng.normal(size=(SEQUENCES, STEPS, 3))
    return torch.as_tensor(obs, dtype=torch.float32), torch.as_tensor(weight, dtype=torch.float32)


model = Recurrent()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for update in range(80):
    obs, weight = replay()
    action = torch.randint(0, 2, (SEQUENCES, STEPS, 1))
    returns = obs.cumsum(1)[..., 0] / 4.0
    chosen = model(obs).gather(-1, action).squeeze(-1)
    error = (chosen - returns).pow(2)
    loss = (weight.unsqueeze(1) * error).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
