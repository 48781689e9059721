"""Policy optimisation of answers with a critic of its own. The policy's loss is divided by the words of the whole
batch, but the critic's is a mean over the words of each micro-batch, so its gradient depends on how the batch
was cut. After verl-project/verl#5641 (the same in dp_critic) and allenai/open-instruct#1161.

Round 26
Class: llm-rl
"""

from dataclasses import dataclass

import torch
from torch import nn

EOS = 1


@dataclass
class Config:
    vocab: int = 14
    width: int = 24
    rows: int = 16
    longest: int = 12
    micro: int = 4
    epochs: int = 2
    clip: float = 0.2
    updates: int = 16
    seed: int = 2605


class Reader(nn.Module):
    """A recurrent body with one linear head: the words of a policy or the values of a critic."""

    def __init__(self, c, outputs):
        super().__init__()
        self.embed = nn.Embedding(c.vocab, c.width)
        self.body = nn.GRU(c.width, c.width, batch_first=True)
        self.head = nn.Linear(c.width, outputs)

    def forward(self, ids):
        return self.head(self.body(self.embed(ids))[0])


def masked_sum(values, mask):
    return (values * mask).sum()


def masked_mean(values, mask):
    return (values * mask).sum() / mask.sum()  # BUG GS407


def logps_of(policy, ids):
    logps = torch.log_softmax(policy(ids[:, :-1]), dim=-1)
    return logps.gather(2, ids[:, 1:, None]).squeeze(2)


class Trainer:
    def __init__(self, config):
        torch.manual_seed(config.seed)
        self.c = config
        self.policy, self.critic = Reader(config, config.vocab), Reader(config, 1)
        self.policy_opt = torch.optim.Adam(self.policy.parameters(), lr=3e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=3e-3)

    @torch.no_grad()
    def rollout(self):
        c = self.c
        ids = torch.randint(2, c.vocab, (c.rows, 1))
        for _ in range(c.longest):
            probs = torch.softmax(self.policy(ids)[:, -1], dim=-1)
            ids = torch.cat([ids, torch.multinomial(probs, 1)], dim=1)
        ended = (ids[:, 1:] == EOS).int()
        mask = ((ended.cumsum(1) - ended) == 0).float()
        score = masked_scores(ids[:, 1:], mask)
        returns = score[:, None] * mask
        values = self.critic(ids[:, :-1]).squeeze(-1)
        advantages = (returns - values) * mask
        mean = advantages.sum() / mask.sum()
        std = (((advantages - mean) ** 2 * mask).sum() / mask.sum()).sqrt()
        order = mask.sum(1).argsort()
        batch = (ids, mask, (advantages - mean) / (std + 1e-6), returns, logps_of(self.policy, ids))
        return [column[order] for column in batch], score.mean().item()

    def policy_loss(self, ids, mask, advantages, old, words):
        ratio = torch.exp(logps_of(self.policy, ids) - old)
        limited = ratio.clamp(1 - self.c.clip, 1 + self.c.clip)
        return masked_sum(-torch.min(ratio * advantages, limited * advantages), mask) / words

    def critic_loss(self, ids, mask, returns, words):
        errors = (self.critic(ids[:, :-1]).squeeze(-1) - returns) ** 2
        return masked_mean(errors, mask) / (self.c.rows // self.c.micro)  # BUG GS407

    def update(self):
        (ids, mask, advantages, returns, old), score = self.rollout()
        words = mask.sum()
        for _ in range(self.c.epochs):
            self.policy_opt.zero_grad()
            self.critic_opt.zero_grad()
            for first in range(0, self.c.rows, self.c.micro):
                part = slice(first, first + self.c.micro)
                self.policy_loss(ids[part], mask[part], advantages[part], old[part], words).backward()
                self.critic_loss(ids[part], mask[part], returns[part], words).backward()  # BUG GS407
            nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
            nn.utils.clip_grad_norm_(self.critic.parameters(), 1.0)
            self.policy_opt.step()
            self.critic_opt.step()
        return score


def masked_scores(words, mask):
    return ((words % 2 == 0).float() * mask).sum(1) / mask.sum(1)


trainer = Trainer(Config())
for step in range(trainer.c.updates):
    score = trainer.update()
    if step % 4 == 0:
        print(step, round(score, 3))
