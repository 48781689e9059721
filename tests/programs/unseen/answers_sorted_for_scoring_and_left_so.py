"""Old log-probabilities are scored in batches of similar length: the answers are sorted, scored, joined, and never put back
into the order in which the trainer keeps them.

Round 23
Class: llm-rl
"""

import torch
from torch import nn

torch.manual_seed(2320)
VOCAB, WIDTH, COUNT, LONGEST = 11, 24, 16, 9


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, WIDTH)
        self.places = nn.Parameter(0.1 * torch.randn(LONGEST + 1, WIDTH))
        self.attention = nn.MultiheadAttention(WIDTH, 2, batch_first=True)
        self.head = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCAB))

    def forward(self, ids):
        x = self.tokens(ids) + self.places[: ids.shape[1]]
        blocked = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).triu(1)
        return self.head(x + self.attention(x, x, x, attn_mask=blocked, need_weights=False)[0])


def logps(model, ids):
    return model(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]


@torch.no_grad()
def score_by_length(model, ids, lengths, size=4):
    order = lengths.argsort()
    scored = [logps(model, ids[rows]) for rows in order.split(size)]
    return torch.cat(scored)  # BUG GS803


@torch.no_grad()
def generate(model):
    ids = torch.randint(VOCAB, (COUNT, 1))
    for _ in range(LONGEST):
        ids = torch.cat([ids, model(ids)[:, -1].softmax(-1).multinomial(1)], 1)
    lengths = torch.randint(3, LONGEST + 1, (COUNT,))
    return ids, lengths


def masked_mean(x, mask):
    return x[mask].sum() / mask.sum()


model = Decoder()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for _ in range(16):
    ids, lengths = generate(model)
    mask = torch.arange(LONGEST) < lengths[:, None]
    reward = ((ids[:, 1:] == 5) & mask).sum(1) / lengths
    advantage = (reward - reward.mean())[:, None] / (reward.std() + 1e-6)
    old = score_by_length(model, ids, lengths)
    for _ in range(2):
        ratio = (logps(model, ids) - old).exp()
        loss = -masked_mean(torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage), mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
