"""Accumulation done right, by the count of the whole window: the micro-batches are fetched first, their labels
counted, and every loss is a sum divided by that one number."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
VOCAB, LENGTH, WINDOW = 12, 10, 4


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.qkv, self.out = (
            nn.LayerNorm(width),
            nn.Linear(width, 3 * width),
            nn.Linear(width, width),
        )

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        return x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True))


class TinyLM(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.embed, self.head = nn.Embedding(VOCAB, width), nn.Linear(width, VOCAB, bias=False)
        self.layers = nn.ModuleList([Block(width), Block(width)])

    def hidden(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return x

    def forward(self, tokens):
        return self.head(self.hidden(tokens))


def micro_batch(rows):
    tokens = torch.randint(1, VOCAB, (rows, LENGTH))
    lengths = torch.randint(3, LENGTH + 1, (rows, 1))
    return tokens, tokens.masked_fill(torch.arange(LENGTH) >= lengths, -100)


model = TinyLM()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(10):
    window = [micro_batch(4) for _ in range(WINDOW - 1)] + [micro_batch(2)]
    num_items = sum((labels[:, 1:] != -100).sum() for _, labels in window)
    for tokens, labels in window:
        logits = model(tokens)[:, :-1]
        loss = F.cross_entropy(
            logits.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100, reduction="sum"
        )
        loss = loss / num_items
        loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
