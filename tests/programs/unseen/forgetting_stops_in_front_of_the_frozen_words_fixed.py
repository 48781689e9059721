"""Unlearning by negative preferences with low-rank adapters: every block is checkpointed, and the embedded words are
told to ask for gradients, so that the adapters inside the blocks get theirs.

Round 30
Class: llm-rl
"""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

torch.manual_seed(3026)

VOCAB, WIDTH, HEADS, LENGTH, RANK, BETA = 22, 32, 2, 9, 4, 0.1


class LoRALinear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.base = nn.Linear(n_in, n_out).requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(RANK, n_in) / n_in**0.5)
        self.lora_B = nn.Parameter(torch.zeros(n_out, RANK))

    def forward(self, x):
        return self.base(x) + 2.0 * F.linear(F.linear(x, self.lora_A), self.lora_B)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH).requires_grad_(False)
        self.norm2 = nn.LayerNorm(WIDTH).requires_grad_(False)
        self.qkv, self.proj = LoRALinear(WIDTH, 3 * WIDTH), LoRALinear(WIDTH, WIDTH)
        self.up, self.down = LoRALinear(WIDTH, 2 * WIDTH), LoRALinear(2 * WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        parts = self.qkv(self.norm1(x)).view(batch, length, 3, HEADS, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(heads.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class AdaptedLM(nn.Module):
    def __init__(self, gradient_checkpointing=True):
        super().__init__()
        self.gradient_checkpointing = gradient_checkpointing
        self.words = nn.Embedding(VOCAB, WIDTH).requires_grad_(False)
        self.places = nn.Embedding(LENGTH, WIDTH).requires_grad_(False)
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        self.lm_head = LoRALinear(WIDTH, VOCAB)

    def forward(self, ids):
        hidden = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        if torch.is_grad_enabled():
            hidden.requires_grad_(True)
        for block in self.blocks:
            if self.gradient_checkpointing and torch.is_grad_enabled():
                hidden = checkpoint(block, hidden, use_reentrant=True)
            else:
                hidden = block(hidden)
        return self.lm_head(hidden)


def sequence_log_prob(model, ids):
    log_probs = model(ids)[:, :-1].log_softmax(-1)
    return log_probs.gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1).sum(-1)


def npo_loss(model, oracle, ids):
    with torch.no_grad():
        before = sequence_log_prob(oracle, ids)
    return -2.0 / BETA * F.logsigmoid(-BETA * (sequence_log_prob(model, ids) - before)).mean()


def retain_loss(model, ids):
    return F.cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())


secrets = torch.randint(0, VOCAB, (12, LENGTH))
counting = (torch.arange(LENGTH) + torch.arange(12).unsqueeze(1)) % VOCAB

model = AdaptedLM()
oracle = copy.deepcopy(model).eval().requires_grad_(False)
trained = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=2e-3, weight_decay=0.0)
for step in range(40):
    forget = npo_loss(model, oracle, secrets[torch.randperm(12)[:6]])
    retain = retain_loss(model, counting[torch.randperm(12)[:6]])
    optimizer.zero_grad()
    (forget + retain).backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step}: forget {forget.item():.3f}, retain {retain.item():.3f}")
