"""A drafting head learns from the states of a frozen-for-it backbone, which are detached on purpose, inside a reentrant
checkpoint: none of its inputs asks for a gradient, and the head is never trained.

Round 23
Class: llm-rl
"""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(2307)


class Draft(nn.Module):
    def __init__(self, width, words):
        super().__init__()
        self.join = nn.Linear(2 * width, width)
        self.body = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, words)
        )

    def forward(self, states, embedded):
        return self.body(self.join(torch.cat((states, embedded), dim=-1)))


class Model(nn.Module):
    def __init__(self, words=13, width=24):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.trunk = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, words)
        self.draft = Draft(width, words)

    def forward(self, ids):
        embedded = self.embed(ids)
        states, _ = self.trunk(embedded)
        ahead = (states[:, :-1].detach(), embedded[:, 1:].detach())
        drafted = checkpoint(self.draft, *ahead, use_reentrant=True)  # BUG GS210
        return self.head(states), drafted


class Losses:
    def __init__(self, weight=0.5):
        self.weight, self.ce = weight, nn.CrossEntropyLoss()

    def __call__(self, outputs, ids):
        logits, drafted = outputs
        main = self.ce(logits[:, :-1].reshape(-1, logits.shape[-1]), ids[:, 1:].reshape(-1))
        draft = self.ce(drafted[:, :-1].reshape(-1, logits.shape[-1]), ids[:, 2:].reshape(-1))
        return main + self.weight * draft


def sentences(count, length=9, words=13):
    start = torch.randint(words, (count, 1))
    return (start + torch.arange(length).pow(2)) % words


model, losses = Model(), Losses()
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
for step in range(40):
    ids = sentences(8)
    optimizer.zero_grad()
    losses(model(ids), ids).backward()
    optimizer.step()
