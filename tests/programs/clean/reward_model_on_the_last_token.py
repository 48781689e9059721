"""A reward model: the score of the last token that is not padding, a pairwise loss with a margin, scores centred
by a small penalty, the trunk trained with a smaller rate than the head."""

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


class RewardModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk, self.score = TinyLM(), nn.Linear(16, 1, bias=False)
        del self.trunk.head

    def forward(self, tokens, lengths):
        scores = self.score(self.trunk.hidden(tokens)).squeeze(-1)
        return scores[torch.arange(len(tokens)), lengths - 1]


model = RewardModel()
groups = [{"params": model.trunk.parameters(), "lr": 1e-4}, {"params": model.score.parameters(), "lr": 1e-3}]
optimizer = torch.optim.AdamW(groups)
right = 0
for _ in range(12):
    lengths = torch.randint(3, LENGTH + 1, (8,))
    tokens = torch.randint(1, VOCAB, (8, LENGTH)).masked_fill(torch.arange(LENGTH) >= lengths[:, None], 0)
    margin = torch.rand(4)
    chosen, rejected = model(tokens, lengths).chunk(2)
    loss = -F.logsigmoid(chosen - rejected - margin).mean() + 0.01 * (chosen + rejected).pow(2).mean()
    right += (chosen > rejected).sum().item()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
