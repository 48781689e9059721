"""Accumulation done right, without looking ahead: sums of token losses go backward, the tokens are counted on the way,
and the gradients are divided by their number before the clip."""

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


model = TinyLM()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
tokens_seen = 0
for step in range(40):
    tokens = torch.randint(1, VOCAB, (4, LENGTH))
    mask = (torch.arange(LENGTH) < torch.randint(3, LENGTH + 1, (4, 1)))[:, 1:].float()
    advantage = torch.randn(4, 1)
    logp = model(tokens[:, :-1]).log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
    loss = -(advantage * logp * mask).sum()
    loss.backward()
    tokens_seen += int(mask.sum())
    if (step + 1) % WINDOW == 0:
        for p in model.parameters():
            p.grad.div_(tokens_seen)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        tokens_seen = 0
