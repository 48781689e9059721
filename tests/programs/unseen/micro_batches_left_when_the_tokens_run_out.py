"""Micro-batches are accumulated until enough tokens were seen; at the end of an epoch what was begun is left lying.

Round 3
Class: llm-rl
"""

import torch
from torch import nn

torch.manual_seed(320)
model = nn.Sequential(nn.Embedding(16, 20), nn.Linear(20, 40), nn.GELU(), nn.Linear(40, 16))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
WINDOW = 3


def loss_of(ids):
    logits = model(ids[:, :-1])
    return nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


class Trainer:
    def epoch(self, batches):
        for number, ids in enumerate(batches, 1):
            loss = loss_of(ids) / WINDOW
            loss.backward()
            if number % WINDOW == 0:
                optimizer.step()  # BUG GS401
                optimizer.zero_grad()


trainer = Trainer()
for epoch in range(12):
    trainer.epoch([torch.randint(16, (6, 8)) for _ in range(7)])
