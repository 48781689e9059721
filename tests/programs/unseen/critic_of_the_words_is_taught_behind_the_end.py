"""PPO with a critic of its own teaches a small model to count upwards. The surrogate leaves out what was
said behind the end of an answer; the error of the critic is a plain mean over all places, and teaches it
zeros where nothing was said.

Round 34
Class: llm-rl
"""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    vocab: int = 10
    end: int = 0
    prompt: int = 2
    answer: int = 8
    batch: int = 32
    rounds: int = 15
    epochs: int = 2
    clip: float = 0.2
    lam: float = 0.95
    lr: float = 2e-3


class Causal(nn.Module):
    def __init__(self, cfg, outputs, width=32):
        super().__init__()
        self.words = nn.Embedding(cfg.vocab, width)
        self.places = nn.Embedding(cfg.prompt + cfg.answer, width)
        self.block = nn.TransformerEncoderLayer(width, 2, 2 * width, dropout=0.0, batch_first=True)
        self.head = nn.Linear(width, outputs)

    def forward(self, tokens):
        length = tokens.shape[1]
        x = self.words(tokens) + self.places(torch.arange(length))
        blocked = torch.ones(length, length, dtype=torch.bool).triu(1)
        return self.head(self.block(x, src_mask=blocked))


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.policy, self.critic = Causal(cfg, cfg.vocab), Causal(cfg, 1)
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=cfg.lr)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=cfg.lr)

    @torch.no_grad()
    def sample(self):
        tokens = torch.randint(1, self.cfg.vocab, (self.cfg.batch, self.cfg.prompt))
        for _ in range(self.cfg.answer):
            chances = self.policy(tokens)[:, -1].softmax(-1)
            tokens = torch.cat([tokens, torch.multinomial(chances, 1)], dim=1)
        ends = (tokens[:, self.cfg.prompt :] == self.cfg.end).long()
        return tokens, (ends.cumsum(1) - ends == 0).float()

    def rewards(self, tokens, mask):
        """A word pays when it is the successor of the one before."""
        before, word = tokens[:, self.cfg.prompt - 1 : -1], tokens[:, self.cfg.prompt :]
        return ((word == before + 1).float() - 0.1) * mask

    def log_probs(self, tokens):
        logits = self.policy(tokens[:, :-1])[:, self.cfg.prompt - 1 :]
        return logits.log_softmax(-1).gather(2, tokens[:, self.cfg.prompt :, None]).squeeze(2)

    def values(self, tokens):
        return self.critic(tokens[:, :-1])[:, self.cfg.prompt - 1 :].squeeze(2)

    def estimate(self, rewards, values, mask):
        values = values * mask
        advantages, running = torch.zeros_like(values), torch.zeros(len(values))
        for t in reversed(range(values.shape[1])):
            following = values[:, t + 1] if t + 1 < values.shape[1] else torch.zeros(len(values))
            running = (rewards[:, t] + following - values[:, t] + self.cfg.lam * running) * mask[:, t]
            advantages[:, t] = running
        return advantages, advantages + values

    def round(self):
        tokens, mask = self.sample()
        rewards = self.rewards(tokens, mask)
        with torch.no_grad():
            old_log_probs = self.log_probs(tokens)
            advantages, returns = self.estimate(rewards, self.values(tokens), mask)
        words = mask.sum()
        mean = (advantages * mask).sum() / words
        spread = ((advantages - mean).pow(2) * mask).sum() / words
        advantages = (advantages - mean) / (spread + 1e-6).sqrt()

        for _ in range(self.cfg.epochs):
            ratio = (self.log_probs(tokens) - old_log_probs).exp()
            limited = ratio.clamp(1 - self.cfg.clip, 1 + self.cfg.clip)
            surrogate = torch.min(ratio * advantages, limited * advantages)
            policy_loss = -(surrogate * mask).sum() / words
            self.policy_optimizer.zero_grad()
            policy_loss.backward()
            self.policy_optimizer.step()

            value_loss = (self.values(tokens) - returns).pow(2).mean()  # BUG GS605
            self.critic_optimizer.zero_grad()
            value_loss.backward()
            self.critic_optimizer.step()
        return rewards.sum(1).mean().item()


torch.manual_seed(361)
cfg = Config()
trainer = Trainer(cfg)
scores = [trainer.round() for _ in range(cfg.rounds)]
print(f"reward per answer {scores[0]:.3f} -> {scores[-1]:.3f}")
