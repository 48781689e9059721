"""Low-rank adapters on the projections of a frozen model, merged to generate and taken out again to train."""

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

    @torch.no_grad()
    def merge(self, sign=1.0):
        self.base.weight += sign * self.scaling * self.lora_B @ self.lora_A


model = TinyLM().requires_grad_(False)
for layer in model.layers:
    layer.qkv, layer.out = LoraLinear(layer.qkv), LoraLinear(layer.out)
adapters = [m for m in model.modules() if isinstance(m, LoraLinear)]
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for _ in range(10):
    for adapter in adapters:
        adapter.merge()
    LoraLinear.enabled = False
    tokens = torch.randint(VOCAB, (4, 3))
    with torch.no_grad():
        while tokens.shape[1] < LENGTH:
            tokens = torch.cat([tokens, torch.multinomial(model(tokens)[:, -1].softmax(-1), 1)], 1)
    for adapter in adapters:
        adapter.merge(-1.0)
    LoraLinear.enabled = True
    rewards = (tokens == 7).float().mean(1) + 0.1 * torch.rand(4)
    logp = model(tokens[:, :-1]).log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
    loss = -((rewards - rewards.mean())[:, None] * logp).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
