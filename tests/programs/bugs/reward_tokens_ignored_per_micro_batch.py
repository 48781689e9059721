"""Supervised warm-up with accumulation: `cross_entropy` leaves the prompt out and averages over what is left."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(10, 16), nn.Linear(16, 10)

    def forward(self, tokens, labels):
        logits = self.head(torch.tanh(self.embed(tokens)))
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-1)  # BUG GS407


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for batch in range(1, 37):
    tokens = torch.randint(10, (3, 8))
    labels = tokens.roll(-1, 1)
    labels[:, : int(torch.randint(1, 7, ()))] = -1
    loss = model(tokens, labels) * (1 / 3)
    loss.backward()
    if batch % 3 == 0:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
