"""Adapters in reentrant checkpoints, over embeddings that are made to require grad: each micro-batch is divided by its
own number of tokens."""

import warnings

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
warnings.simplefilter("ignore")
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
            x = checkpoint(layer, x, use_reentrant=True)
        return x

    def forward(self, tokens):
        return self.head(self.hidden(tokens))


class LoraLinear(nn.Module):
    """The frozen layer plus a low-rank one that starts at zero."""

    enabled = True

    def __init__(self, base, rank=2, alpha=4.0):
        super().__init__()
        self.base, self.scaling = base.requires_grad_(False), alpha / rank
        self.lora_A = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        y = self.base(x)
        if LoraLinear.enabled:
            y = y + (F.dropout(x, 0.0, self.training) @ self.lora_A.T @ self.lora_B.T) * self.scaling
        return y


def collate(rows):
    padded = torch.full((len(rows), LENGTH), 0)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = torch.tensor(row)
    return padded


model = TinyLM().requires_grad_(False)
for layer in model.layers:
    layer.qkv = LoraLinear(layer.qkv)
model.embed.register_forward_hook(lambda module, args, output: output.requires_grad_(True))
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for step in range(24):
    rows = [torch.randint(1, VOCAB, (int(n),)).tolist() for n in torch.randint(4, LENGTH + 1, (4,))]
    tokens = collate(rows)
    logits = model(tokens[:, :-1])
    losses = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], ignore_index=0, reduction="none")
    loss = losses.sum() / (tokens[:, 1:] != 0).sum()  # BUG GS407
    (loss / 4).backward()
    if step % 4 == 3:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
