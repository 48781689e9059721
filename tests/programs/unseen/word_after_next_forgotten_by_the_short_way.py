"""A model with a second head for the word after the next. The fused way through the loss returns before the second
head's loss is added, and its config says that it is on.

Round 23
Class: llm-rl
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class ModelConfig:
    vocab: int = 16
    width: int = 32
    ahead_weight: float = 0.3
    fused: bool = True


class TwoAhead(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab, config.width)
        self.core = nn.LSTM(config.width, config.width, batch_first=True)
        self.head = nn.Linear(config.width, config.vocab, bias=False)
        self.ahead = nn.Sequential(
            nn.Linear(config.width, config.width), nn.SiLU(), nn.Linear(config.width, config.vocab)
        )

    def forward(self, ids):
        hidden, _ = self.core(self.embed(ids[:, :-1]))
        return hidden

    def loss(self, ids):
        hidden = self(ids)
        if self.config.fused:
            return self.chunked(hidden, ids[:, 1:])  # BUG GS204 GS202
        next_loss = F.cross_entropy(self.head(hidden).flatten(0, 1), ids[:, 1:].flatten())
        return next_loss + self.config.ahead_weight * self.ahead_loss(hidden, ids)

    def chunked(self, hidden, labels):
        """One slice of the logits at a time, to save memory."""
        total = hidden.new_zeros(())
        for states, words in zip(hidden.split(3, dim=1), labels.split(3, dim=1), strict=True):
            total = total + F.cross_entropy(self.head(states).flatten(0, 1), words.flatten(), reduction="sum")
        return total / labels.numel()

    def ahead_loss(self, hidden, ids):
        return F.cross_entropy(self.ahead(hidden[:, :-1]).flatten(0, 1), ids[:, 2:].flatten())


def batches(config, count, seed=2304):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(count):
        first = torch.randint(0, config.vocab, (8, 1), generator=generator)
        yield (first + torch.arange(10) * 3) % config.vocab


torch.manual_seed(4)
config = ModelConfig()
model = TwoAhead(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)  # BUG GS204
for ids in batches(config, 45):
    optimizer.zero_grad()
    loss = model.loss(ids)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
