"""Each answer is to be weighed by its length: the mask gives the lengths, and is applied to no token.
Repaired here.

Round 12
Class: llm-rl
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1208)


@dataclass
class Config:
    vocab: int = 16
    width: int = 32
    prompts: int = 4
    group: int = 4
    length: int = 9
    beta: float = 0.05
    end: int = 0


class Policy(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Embedding(cfg.vocab, cfg.width)
        self.rnn = nn.GRU(cfg.width, cfg.width, batch_first=True)
        self.head = nn.Linear(cfg.width, cfg.vocab)

    def forward(self, ids):
        return self.head(self.rnn(self.embed(ids))[0])


class Trainer:
    def __init__(self, cfg):
        self.cfg, self.policy, self.reference = cfg, Policy(cfg), Policy(cfg)
        self.reference.load_state_dict(self.policy.state_dict())
        self.reference.requires_grad_(False)
        self.optimizer = torch.optim.AdamW(self.policy.parameters(), lr=2e-3)

    @torch.no_grad()
    def generate(self):
        ids = torch.randint(1, self.cfg.vocab, (self.cfg.prompts, 1)).repeat_interleave(self.cfg.group, 0)
        for _ in range(self.cfg.length):
            ids = torch.cat([ids, self.policy(ids)[:, -1].softmax(-1).multinomial(1)], 1)
        ended = (ids[:, 1:] == self.cfg.end).cumsum(1)
        mask = ((ended == 0) | ((ended == 1) & (ids[:, 1:] == self.cfg.end))).float()
        ids[:, 1:] = ids[:, 1:] * mask.long()
        return ids, mask

    def log_probs(self, model, ids):
        return F.log_softmax(model(ids[:, :-1]), -1).gather(-1, ids[:, 1:, None]).squeeze(-1)

    def token_losses(self, ids, mask):
        logp = self.log_probs(self.policy, ids)
        drift = self.log_probs(self.reference, ids) - logp
        reward = ((ids[:, 1:] > 11).float() * mask).sum(1) / mask.sum(1)
        reward = reward.view(self.cfg.prompts, self.cfg.group)
        advantage = ((reward - reward.mean(1, keepdim=True)) / (reward.std(1, keepdim=True) + 1e-4)).view(
            -1, 1
        )
        ratio = (logp - logp.detach()).exp()
        return -ratio * advantage + self.cfg.beta * (drift.exp() - drift - 1)

    def update(self):
        ids, mask = self.generate()
        losses = self.token_losses(ids, mask)
        loss = (losses * mask).sum(1).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


trainer = Trainer(Config())
for update in range(40):
    last = trainer.update()
print("loss", last)
