"""A small language model with low-rank adapters is trained by a Trainer class on rewarded continuations;
its step helper clears the gradients only where a flag is passed, and the training loop never passes it.
After tenstorrent/tt-blacksmith#711.

Round 37
Class: late and rare
"""

import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class TrainingConfig:
    seed: int = 3705
    vocab_size: int = 16
    hidden: int = 32
    lora_r: int = 4
    lora_alpha: int = 8
    learning_rate: float = 5e-3
    batch_size: int = 16
    max_length: int = 8
    num_steps: int = 50
    max_grad_norm: float = 1.0


class LoraLinear(nn.Module):
    def __init__(self, base, r, alpha):
        super().__init__()
        self.base = base
        for p in base.parameters():
            p.requires_grad_(False)
        self.lora_a = nn.Parameter(torch.randn(r, base.in_features) / math.sqrt(base.in_features))
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, r))
        self.scaling = alpha / r

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.lora_a), self.lora_b) * self.scaling


class TinyCausalLM(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Embedding(cfg.vocab_size, cfg.hidden)
        self.rnn = nn.GRU(cfg.hidden, cfg.hidden, batch_first=True)
        self.up_proj = LoraLinear(nn.Linear(cfg.hidden, cfg.hidden), cfg.lora_r, cfg.lora_alpha)
        self.lm_head = LoraLinear(nn.Linear(cfg.hidden, cfg.vocab_size), cfg.lora_r, cfg.lora_alpha)
        for module in (self.embed, self.rnn):
            for p in module.parameters():
                p.requires_grad_(False)

    def forward(self, tokens):
        hidden, _ = self.rnn(self.embed(tokens))
        return self.lm_head(torch.tanh(self.up_proj(hidden)))


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        self.model = TinyCausalLM(cfg)
        self.trainable = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(self.trainable, lr=cfg.learning_rate)

    @torch.no_grad()
    def sample(self):
        tokens = torch.randint(1, self.cfg.vocab_size, (self.cfg.batch_size, 2))
        for _ in range(self.cfg.max_length):
            logits = self.model(tokens)[:, -1]
            tokens = torch.cat([tokens, torch.multinomial(logits.softmax(-1), 1)], dim=1)
        return tokens

    def reward(self, tokens):
        """A point for each word that continues the alternation of even and odd."""
        words = tokens[:, 1:] % 2
        return (words != tokens[:, :-1] % 2).float()[:, 1:].mean(1)

    def training_step(self, tokens):
        log_probs = F.log_softmax(self.model(tokens[:, :-1]), dim=-1)
        chosen = log_probs.gather(-1, tokens[:, 1:].unsqueeze(-1)).squeeze(-1)[:, 1:]
        reward = self.reward(tokens)
        advantage = (reward - reward.mean()) / (reward.std() + 1e-4)
        return -(advantage.unsqueeze(1) * chosen).mean(), reward.mean().item()

    def optimizer_step(self, zero_grad=False):  # BUG GS401
        nn.utils.clip_grad_norm_(self.trainable, self.cfg.max_grad_norm)
        self.optimizer.step()  # BUG GS401
        if zero_grad:
            self.optimizer.zero_grad()

    def train(self):
        for step in range(self.cfg.num_steps):
            loss, reward = self.training_step(self.sample())
            loss.backward()
            self.optimizer_step()  # BUG GS401
            if step % 10 == 9:
                print(f"step {step + 1} loss {loss.item():.3f} reward {reward:.3f}")


Trainer(TrainingConfig()).train()
