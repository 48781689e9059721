"""A latent model is trained chunk by chunk and starts each with the live latent that the last one ended with.
Repaired here.

Round 10
Class: stays alive
"""

import torch
from torch import nn

torch.manual_seed(1010)


class LatentModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 20)
        self.decode = nn.Linear(20, 3)
        self.latent = torch.zeros(8, 20)

    def chunk_loss(self, chunk):
        latent, loss = self.latent, 0.0
        for t in range(len(chunk) - 1):
            latent = self.cell(chunk[t], latent)
            loss = loss + (self.decode(latent) - chunk[t + 1]).pow(2).mean()
        self.latent = latent.detach()
        return loss / (len(chunk) - 1)


model = LatentModel()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for update in range(30):
    loss = model.chunk_loss(torch.randn(9, 8, 3).cumsum(0))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
