"""Losses behind masks, each written in a way that keeps what is masked out of the gradient: `where` before the risky
operation, weights between 0 and 1 on purpose, `masked_fill` of logits, a mean per sequence."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
VOCAB, LENGTH = 12, 8


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


def safe_log(p, mask):
    return torch.where(mask, p, torch.ones_like(p)).log()


model = TinyLM()
scorer = nn.Linear(16, VOCAB)
optimizer = torch.optim.AdamW([*model.parameters(), *scorer.parameters()], lr=1e-3)
for _ in range(10):
    tokens = torch.randint(1, VOCAB, (4, LENGTH))
    mask = torch.arange(LENGTH - 1) < torch.randint(2, LENGTH, (4, 1))
    allowed = torch.rand(4, 1, VOCAB) < 0.8
    allowed = allowed | F.one_hot(tokens[:, 1:], VOCAB).bool()
    logits = model(tokens[:, :-1]).masked_fill(~allowed, torch.finfo(torch.float32).min)
    logp = logits.log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
    per_sequence = (logp * mask).sum(1) / mask.sum(1)
    probabilities = logits.softmax(-1)
    entropy = -(probabilities * safe_log(probabilities, probabilities > 0)).sum(-1)
    decay = 0.9 ** torch.arange(LENGTH - 1)  # a weight for each position, not a mask
    regularity = (scorer(model.hidden(tokens[:, :-1])).pow(2).mean(-1) * decay * mask).sum() / mask.sum()
    loss = -per_sequence.mean() - 0.01 * entropy[mask].mean() + 0.1 * regularity
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
