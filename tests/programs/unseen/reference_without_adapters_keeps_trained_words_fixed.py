"""The reference is the policy with its adapters switched off, and nothing but the adapters is trained.

Round 23
Class: llm-rl
"""

from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2311)
VOCAB, WIDTH, RANK, LENGTH = 12, 24, 4, 7


class Adapted(nn.Linear):
    """A frozen layer and a trained correction of low rank."""

    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs)
        self.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(RANK, inputs) * 0.1)
        self.up = nn.Parameter(torch.zeros(outputs, RANK))
        self.enabled = True

    def forward(self, x):
        y = super().forward(x)
        return y + x @ self.down.T @ self.up.T if self.enabled else y


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCAB, WIDTH)
        self.one, self.two = Adapted(2 * WIDTH, WIDTH), Adapted(WIDTH, VOCAB)

    def forward(self, ids):
        x = self.words(ids)
        x = torch.cat([x, F.pad(x, (0, 0, 1, 0))[:, :-1]], -1)
        return self.two(self.one(x).relu())

    @contextmanager
    def adapters_off(self):
        self.one.enabled = self.two.enabled = False
        yield
        self.one.enabled = self.two.enabled = True


def log_probs(model, ids):
    return model(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)


def sample(model, count=12):
    ids = torch.randint(VOCAB, (count, 1))
    with torch.no_grad():
        for _ in range(LENGTH):
            ids = torch.cat([ids, model(ids)[:, -1].softmax(-1).multinomial(1)], 1)
    return ids


model = LM()
model.words.requires_grad_(False)
trained = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.Adam(trained, lr=5e-3)
for step in range(40):
    ids = sample(model)
    rewards = (ids[:, 1:] > 8).float().mean(1)
    advantages = (rewards - rewards.mean())[:, None]
    with torch.no_grad(), model.adapters_off():
        ref = log_probs(model, ids)
    logp = log_probs(model, ids)
    kl = (ref - logp).exp() - (ref - logp) - 1
    loss = (-(logp - logp.detach()).exp() * advantages + 0.1 * kl).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
