"""A poem is sampled with gradients, token by token, and its keys and values are written into caches made beforehand,
which attention has saved for backward in the steps before.

Round 29
Class: llm-rl
"""

import math

import torch
from torch import nn
from torch.distributions import Categorical

VOCAB, DIM, LINES, WORDS = 11, 24, 16, 8


class CachedAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(DIM, DIM) for _ in range(3))

    def start(self, batch):
        self.keys = torch.zeros(batch, WORDS, DIM)
        self.values = torch.zeros(batch, WORDS, DIM)

    def forward(self, x, t):
        self.keys[:, t] = self.key(x)  # BUG GS101
        self.values[:, t] = self.value(x)  # BUG GS101
        keys, values = self.keys[:, : t + 1], self.values[:, : t + 1]
        scores = torch.einsum("bd,btd->bt", self.query(x), keys) / math.sqrt(DIM)
        return torch.einsum("bt,btd->bd", scores.softmax(-1), values)


class Poet(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(VOCAB + 1, DIM), nn.Embedding(WORDS, DIM)
        self.attention = CachedAttention()
        self.out = nn.Sequential(nn.LayerNorm(DIM), nn.Linear(DIM, 48), nn.GELU(), nn.Linear(48, VOCAB))

    def write(self, count):
        self.attention.start(count)
        word, poem, log_probs = torch.full((count,), VOCAB), [], []
        for t in range(WORDS):
            x = self.words(word) + self.places.weight[t]
            dist = Categorical(logits=self.out(x + self.attention(x, t)))
            word = dist.sample()
            poem.append(word)
            log_probs.append(dist.log_prob(word))
        return torch.stack(poem, 1), torch.stack(log_probs, 1)


def rhyme(poem):
    """The second half should end as the first does, and no word should follow itself."""
    echoes = (poem[:, : WORDS // 2] == poem[:, WORDS // 2 :]).float().mean(1)
    stammer = (poem[:, 1:] == poem[:, :-1]).float().mean(1)
    return echoes - 0.5 * stammer


torch.manual_seed(2928)
poet = Poet()
optimizer = torch.optim.Adam(poet.parameters(), lr=3e-3)
for evening in range(40):
    poem, log_probs = poet.write(LINES)
    rewards = rhyme(poem)
    leave_one_out = (rewards.sum() - rewards) / (LINES - 1)
    loss = -((rewards - leave_one_out) * log_probs.sum(1)).mean()
    optimizer.zero_grad()
    loss.backward()  # BUG GS101
    nn.utils.clip_grad_norm_(poet.parameters(), 1.0)
    optimizer.step()
