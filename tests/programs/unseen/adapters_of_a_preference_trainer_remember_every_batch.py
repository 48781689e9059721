"""Direct preference optimisation of low-rank adapters in a small trainer class: the gradients are never
cleared, so every step takes all the batches before it along. After tenstorrent/tt-blacksmith#711.

Round 36
Class: llm-rl
"""

import math
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class TrainingConfig:
    vocab_size: int = 24
    hidden: int = 32
    seq_len: int = 12
    prompt_len: int = 4
    rank: int = 4
    lora_alpha: float = 8.0
    beta: float = 0.1
    lr: float = 2e-3
    batch_size: int = 16
    max_steps: int = 60
    log_every: int = 20
    seed: int = 3620


class LoraLinear(nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base, self.scaling, self.enabled = base, alpha / rank, True
        for p in base.parameters():
            p.requires_grad = False
        self.lora_a = nn.Parameter(torch.randn(rank, base.in_features) / math.sqrt(base.in_features))
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        out = self.base(x)
        if self.enabled:
            out = out + self.scaling * (x @ self.lora_a.T) @ self.lora_b.T
        return out


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(c.hidden), nn.LayerNorm(c.hidden)
        self.qkv, self.proj = nn.Linear(c.hidden, 3 * c.hidden), nn.Linear(c.hidden, c.hidden)
        self.up, self.down = nn.Linear(c.hidden, 2 * c.hidden), nn.Linear(2 * c.hidden, c.hidden)

    def forward(self, x):
        q, k, v = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        x = x + self.proj(F.scaled_dot_product_attention(q, k, v, is_causal=True))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class TinyLM(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.tok, self.pos = nn.Embedding(c.vocab_size, c.hidden), nn.Embedding(c.seq_len, c.hidden)
        self.blocks = nn.ModuleList(Block(c) for _ in range(2))
        self.norm, self.lm_head = nn.LayerNorm(c.hidden), nn.Linear(c.hidden, c.vocab_size)

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.lm_head(self.norm(x))


def apply_lora(model, c):
    for p in model.parameters():
        p.requires_grad = False
    for block in model.blocks:
        block.qkv = LoraLinear(block.qkv, c.rank, c.lora_alpha)
        block.proj = LoraLinear(block.proj, c.rank, c.lora_alpha)
    return model


@contextmanager
def adapters_disabled(model):
    layers = [m for m in model.modules() if isinstance(m, LoraLinear)]
    for layer in layers:
        layer.enabled = False
    yield
    for layer in layers:
        layer.enabled = True


class PreferenceDataset:
    """The chosen answer repeats the prompt backwards with a slip or two; the rejected one is noise."""

    def __init__(self, c):
        self.c, self.generator = c, torch.Generator().manual_seed(c.seed)

    def batch(self):
        c, g = self.c, self.generator
        prompt = torch.randint(c.vocab_size, (c.batch_size, c.prompt_len), generator=g)
        chosen = prompt.flip(1).repeat(1, (c.seq_len - c.prompt_len) // c.prompt_len)
        noise = torch.randint(c.vocab_size, chosen.shape, generator=g)
        chosen = torch.where(torch.rand(chosen.shape, generator=g) < 0.1, noise, chosen)
        rejected = torch.randint(c.vocab_size, chosen.shape, generator=g)
        return torch.cat([prompt, chosen], dim=1), torch.cat([prompt, rejected], dim=1)


class DPOTrainer:
    def __init__(self, model, dataset, config):
        self.model, self.dataset, self.config = model, dataset, config
        trainable = [p for p in model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(trainable, lr=config.lr)

    def answer_log_probs(self, ids):
        logits = self.model(ids[:, :-1])
        log_probs = torch.log_softmax(logits, dim=-1).gather(2, ids[:, 1:].unsqueeze(2)).squeeze(2)
        return log_probs[:, self.config.prompt_len - 1 :].sum(dim=1)

    def compute_loss(self, chosen, rejected):
        policy_margin = self.answer_log_probs(chosen) - self.answer_log_probs(rejected)
        with torch.no_grad(), adapters_disabled(self.model):
            reference_margin = self.answer_log_probs(chosen) - self.answer_log_probs(rejected)
        margin = self.config.beta * (policy_margin - reference_margin)
        return -F.logsigmoid(margin).mean(), (margin > 0).float().mean()

    def training_step(self):
        loss, accuracy = self.compute_loss(*self.dataset.batch())
        loss.backward()  # BUG GS401
        return loss.item(), accuracy.item()

    def optimizer_step(self):
        self.optimizer.step()  # BUG GS401

    def train(self):
        self.model.train()
        for step in range(1, self.config.max_steps + 1):
            loss, accuracy = self.training_step()
            self.optimizer_step()
            if step % self.config.log_every == 0:
                print(f"step {step}: loss {loss:.4f}, accuracy {accuracy:.2f}")


if __name__ == "__main__":
    config = TrainingConfig()
    torch.manual_seed(config.seed)
    DPOTrainer(apply_lora(TinyLM(config), config), PreferenceDataset(config), config).train()
