"""Clipped policy optimisation of answers. Micro-batches are cut by a budget of tokens; the loss of each is the mean over
its tokens and is weighed by its share of the answers, not of the tokens.

Round 23
Class: llm-rl
"""

from dataclasses import dataclass

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(2302)


@dataclass
class Config:
    vocab: int = 14
    width: int = 28
    answers: int = 12
    longest: int = 12
    clip: float = 0.2
    token_budget: int = 36
    updates: int = 20
    epochs: int = 2


class Policy(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.words = nn.Embedding(c.vocab, c.width)
        self.core = nn.GRU(c.width, c.width, batch_first=True)
        self.logits = nn.Linear(c.width, c.vocab)

    def forward(self, ids):
        return Categorical(logits=self.logits(self.core(self.words(ids))[0]))


class Trainer:
    def __init__(self, config):
        self.c, self.policy = config, Policy(config)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=3e-3)

    @torch.no_grad()
    def rollout(self):
        ids = torch.zeros(self.c.answers, 1, dtype=torch.long)
        for _ in range(self.c.longest):
            ids = torch.cat([ids, self.draw(ids)], dim=1)
        lengths = torch.randint(2, self.c.longest + 1, (self.c.answers,))
        mask = torch.arange(self.c.longest)[None] < lengths[:, None]
        reward = ((ids[:, 1:] % 3 == 0) & mask).sum(1) / lengths
        advantage = (reward - reward.mean()) / (reward.std() + 1e-6)
        old = self.policy(ids[:, :-1]).log_prob(ids[:, 1:])
        return ids, mask, advantage, old

    def draw(self, ids):
        return Categorical(logits=self.policy(ids).logits[:, -1]).sample()[:, None]

    def micro_batches(self, mask):
        rows, tokens = [], 0
        for row in mask.sum(1).argsort(descending=True).tolist():
            count = int(mask[row].sum())
            if rows and tokens + count > self.c.token_budget:
                yield torch.tensor(rows)
                rows, tokens = [], 0
            rows.append(row)
            tokens += count
        yield torch.tensor(rows)

    def token_mean(self, ids, mask, advantage, old):
        logp = self.policy(ids[:, :-1]).log_prob(ids[:, 1:])
        ratio = (logp - old).exp()
        limited = ratio.clamp(1 - self.c.clip, 1 + self.c.clip)
        losses = -torch.minimum(ratio * advantage[:, None], limited * advantage[:, None])
        return losses[mask].mean()  # BUG GS407

    def update(self):
        ids, mask, advantage, old = self.rollout()
        for _ in range(self.c.epochs):
            self.optimizer.zero_grad(set_to_none=True)
            for rows in self.micro_batches(mask):
                weight = len(rows) / self.c.answers  # BUG GS407
                loss = self.token_mean(ids[rows], mask[rows], advantage[rows], old[rows])
                (loss * weight).backward()  # BUG GS407
            nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
            self.optimizer.step()


trainer = Trainer(Config())
for _ in range(trainer.c.updates):
    trainer.update()
