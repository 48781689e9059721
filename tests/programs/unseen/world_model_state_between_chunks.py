"""A recurrent world model trained on one long stream hands its live state from one chunk to the next.

Class: stays alive
"""

from itertools import pairwise

import numpy as np
import torch
from torch import nn

torch.manual_seed(113)
rng = np.random.default_rng(113)


class WorldModel(nn.Module):
    def __init__(self, obs_dim=4, latent=24):
        super().__init__()
        self.latent = latent
        self.cell = nn.GRUCell(obs_dim, latent)
        self.decoder = nn.Linear(latent, obs_dim)

    def initial(self, batch):
        return torch.zeros(batch, self.latent)

    def observe(self, chunk, state):
        losses = []
        for now, following in pairwise(chunk):
            state = self.cell(now, state)
            losses.append((self.decoder(state) - following).pow(2).mean())
        return torch.stack(losses).mean(), state


def stream(length, batch=8):
    phase = rng.uniform(0, 6.28, size=(1, batch, 4))
    time = np.arange(length).reshape(-1, 1, 1)
    return torch.as_tensor(np.sin(0.3 * time + phase), dtype=torch.float32)


model = WorldModel()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(3):
    data, state = stream(200), model.initial(8)
    for start in range(0, 190, 10):
        loss, state = model.observe(data[start : start + 11], state)  # BUG GS402 GS305
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print("loss", loss.item())
