"""Group-relative training with one ratio for a whole answer: the log-ratios of the tokens are summed and divided by the
answer's length. The brackets end in the wrong place, so that the lengths alone become a column: every answer's ratio is
made with the lengths of all the others.

Round 17
Class: llm-rl
"""

import copy
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1701)
VOCAB, END, LENGTH = 11, 0, 7


@dataclass
class Settings:
    prompts: int = 4
    group: int = 5
    epochs: int = 2
    low: float = 0.1
    high: float = 0.2
    beta: float = 0.02
    level: str = "sequence"


class TokenPolicy(nn.Module):
    def __init__(self, width=28):
        super().__init__()
        self.embed = nn.Embedding(VOCAB + 1, width)
        self.memory = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, VOCAB)

    def forward(self, tokens):
        return self.head(self.memory(self.embed(tokens))[0])


class GroupTrainer:
    def __init__(self, settings):
        self.settings = settings
        self.policy = TokenPolicy()
        self.reference = copy.deepcopy(self.policy).requires_grad_(False)
        self.optimizer = torch.optim.AdamW(self.policy.parameters(), lr=3e-3, weight_decay=0.0)

    @torch.no_grad()
    def answer(self, prompts):
        """Prompts of two tokens, the second of which says "begin"; the mask ends with the first END."""
        tokens = prompts
        for _ in range(LENGTH):
            logits = self.policy(tokens)[:, -1]
            tokens = torch.cat([tokens, torch.multinomial(logits.softmax(-1), 1)], 1)
        ended = (tokens[:, 2:] == END).long().cumsum(1)
        mask = (ended - (tokens[:, 2:] == END).long() == 0).float()
        return tokens, mask

    def token_log_probs(self, model, tokens):
        log_probs = F.log_softmax(model(tokens[:, :-1])[:, 1:], -1)
        return log_probs.gather(-1, tokens[:, 2:].unsqueeze(-1)).squeeze(-1)

    def reward(self, tokens, mask):
        wanted = (tokens[:, 2:] == tokens[:, :1]).float() * mask
        return wanted.sum(1) - 0.1 * (mask.sum(1) - 4).abs()

    def advantages(self, rewards):
        grouped = rewards.view(self.settings.prompts, self.settings.group)
        centred = grouped - grouped.mean(1, keepdim=True)
        return (centred / (grouped.std(1, keepdim=True) + 1e-4)).flatten()

    def log_weights(self, log_ratio, mask):
        """[B, T] for tokens, [B, 1] for whole answers."""
        if self.settings.level == "token":
            return log_ratio
        return ((log_ratio * mask).sum(-1) / mask.sum(-1).clamp(min=1.0)).unsqueeze(-1)

    def loss(self, tokens, mask, old, advantages):
        new = self.token_log_probs(self.policy, tokens)
        with torch.no_grad():
            base = self.token_log_probs(self.reference, tokens)
        ratio = self.log_weights(new - old, mask).exp()
        limited = ratio.clamp(1 - self.settings.low, 1 + self.settings.high)
        advantages = advantages.unsqueeze(1)
        surrogate = torch.min(ratio * advantages, limited * advantages).mean()
        distance = (base - new).exp() - (base - new) - 1
        return -surrogate + self.settings.beta * (distance * mask).sum() / mask.sum()

    def iterate(self):
        wanted = torch.randint(1, VOCAB, (self.settings.prompts,)).repeat_interleave(self.settings.group)
        prompts = torch.stack([wanted, torch.full_like(wanted, VOCAB)], 1)
        tokens, mask = self.answer(prompts)
        rewards = self.reward(tokens, mask)
        advantages = self.advantages(rewards)
        with torch.no_grad():
            old = self.token_log_probs(self.policy, tokens)
        for _ in range(self.settings.epochs):
            self.optimizer.zero_grad()
            self.loss(tokens, mask, old, advantages).backward()
            nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
            self.optimizer.step()
        return rewards.mean().item()


trainer = GroupTrainer(Settings())
history = [trainer.iterate() for _ in range(40)]
print(f"reward {sum(history[:10]) / 10:.3f} → {sum(history[-10:]) / 10:.3f}")
