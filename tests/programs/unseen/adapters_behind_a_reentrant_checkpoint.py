"""Adapters over a frozen base are run in a reentrant checkpoint whose input comes from frozen embeddings:
nothing inside gets a gradient, only the head learns.

Class: llm-rl
"""

import warnings

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

warnings.simplefilter("ignore")
torch.manual_seed(373)


class Adapted(nn.Module):
    def __init__(self, width, rank=4):
        super().__init__()
        self.base = nn.Linear(width, width).requires_grad_(False)
        self.down = nn.Parameter(torch.randn(width, rank) / width**0.5)
        self.up = nn.Parameter(torch.zeros(rank, width))

    def forward(self, x):
        return torch.tanh(self.base(x) + x @ self.down @ self.up)


class Model(nn.Module):
    def __init__(self, vocab=16, width=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, width).requires_grad_(False)
        self.blocks = nn.ModuleList([Adapted(width), Adapted(width)])
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=True)  # BUG GS210 GS202
        return self.head(x)


model = Model()
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=5e-3)
for update in range(60):
    prompt = torch.randint(0, 16, (64,))
    dist = torch.distributions.Categorical(logits=model(prompt))
    token = dist.sample()
    reward = (token == (prompt * 3) % 16).float()
    loss = -((reward - reward.mean()) * dist.log_prob(token)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("reward", reward.mean().item())
