"""Supervised warm-up with accumulation: sums over what is left, divided by the count of the window."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(10, 16), nn.Linear(16, 10)

    def forward(self, tokens, labels, count):
        logits = self.head(torch.tanh(self.embed(tokens)))
        return (
            F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-1, reduction="sum") / count
        )


def batch():
    tokens = torch.randint(10, (3, 8))
    labels = tokens.roll(-1, 1)
    labels[:, : int(torch.randint(1, 7, ()))] = -1
    return tokens, labels


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(12):
    window = [batch() for _ in range(3)]
    count = sum((labels != -1).sum() for _, labels in window)
    for tokens, labels in window:
        model(tokens, labels, count).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
