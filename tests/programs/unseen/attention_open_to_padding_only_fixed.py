"""A reward model reads answers with attention; negative ids are padding, and the mask of what may be attended to is made
with the comparison turned around. The batches of preferences hold answers of one length: nothing may be attended to,
the attention is the same everywhere, and its queries and keys learn nothing.

Round 17
Class: zero in part
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1707)
VOCAB, WIDTH, PAD = 10, 24, -1


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key = nn.Linear(WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.value, self.out = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, mask):
        scores = self.query(x) @ self.key(x).transpose(1, 2) / WIDTH**0.5
        scores = scores.masked_fill(~mask.unsqueeze(1), -torch.finfo(x.dtype).max)
        return self.out(scores.softmax(-1) @ self.value(x))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.place = nn.Embedding(8, WIDTH)
        self.attention = Attention()
        self.feed = nn.Sequential(nn.Linear(WIDTH, 48), nn.GELU(), nn.Linear(48, WIDTH))

    def forward(self, ids):
        mask = ids >= 0
        x = self.embed(ids.clamp(min=0)) + self.place.weight[: ids.shape[1]]
        x = x + self.attention(x, mask)
        return x + self.feed(x)


class RewardModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.score = nn.Linear(WIDTH, 1)

    def forward(self, ids):
        real = (ids >= 0).float().unsqueeze(-1)
        pooled = (self.encoder(ids) * real).sum(1) / real.sum(1)
        return self.score(pooled).squeeze(-1)


class Writer(nn.Module):
    """A policy that writes four to six tokens, each with a distribution of its own."""

    def __init__(self):
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(6, VOCAB))

    def write(self, size):
        ids = torch.distributions.Categorical(logits=self.logits.detach()).sample((size,))
        lengths = torch.randint(4, 7, (size, 1))
        return ids.masked_fill(torch.arange(6) >= lengths, PAD)

    def log_prob(self, ids):
        log_probs = F.log_softmax(self.logits, -1).expand(len(ids), -1, -1)
        taken = log_probs.gather(-1, ids.clamp(min=0).unsqueeze(-1)).squeeze(-1)
        return (taken * (ids >= 0)).sum(-1)


def liking(ids):
    """People like a token that is followed by its successor."""
    follows = (ids[:, 1:] == ids[:, :-1] + 1) & (ids[:, :-1] >= 0)
    return follows.float().sum(1) + 0.1 * (ids == 3).sum(1)


def preferences(size=32):
    length = int(torch.randint(4, 7, ()))
    first, second = torch.randint(VOCAB, (2, size, length))
    better = (liking(first) > liking(second)).unsqueeze(1)
    return torch.where(better, first, second), torch.where(better, second, first)


def fit_reward_model(model, optimizer, updates=60):
    for _ in range(updates):
        chosen, rejected = preferences()
        loss = -F.logsigmoid(model(chosen) - model(rejected)).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return loss.item()


def improve(writer, optimizer, model, updates=30, size=16):
    for _ in range(updates):
        ids = writer.write(size)
        with torch.no_grad():
            reward = model(ids)
        others = (reward.sum() - reward) / (size - 1)
        loss = -((reward - others) * writer.log_prob(ids)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


model, writer = RewardModel(), Writer()
last = fit_reward_model(model, torch.optim.Adam(model.parameters(), lr=2e-3))
improve(writer, torch.optim.Adam(writer.parameters(), lr=5e-2), model)
print(f"preference loss {last:.3f}, liking {liking(writer.write(200)).mean().item():.3f}")
