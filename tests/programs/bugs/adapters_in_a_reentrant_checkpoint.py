"""Low-rank adapters behind frozen embeddings, run block by block in reentrant checkpoints: none is trained."""

import warnings

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

warnings.simplefilter("ignore")
torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Linear(16, 16).requires_grad_(False)
        self.lora_a, self.lora_b = nn.Linear(16, 2, bias=False), nn.Linear(2, 16, bias=False)

    def forward(self, x):
        return torch.tanh(self.base(x) + self.lora_b(self.lora_a(x)))


embed = nn.Embedding(10, 16).requires_grad_(False)
blocks = nn.ModuleList([Block(), Block()])
value_head = nn.Linear(16, 1)
trained = [p for p in [*blocks.parameters(), *value_head.parameters()] if p.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=1e-3)
for _ in range(10):
    hidden = embed(torch.randint(10, (8, 4)))
    for block in blocks:
        hidden = checkpoint(block, hidden, use_reentrant=True)  # BUG GS210
    loss = (value_head(hidden).mean((1, 2)) - torch.randn(8)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
