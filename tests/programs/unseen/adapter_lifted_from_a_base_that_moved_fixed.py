"""Group-relative policy optimisation with low-rank adapters. The reference is the model with its adapters
switched off, and everything but the adapters is frozen.

Round 32
Class: llm-rl
"""

import math
from contextlib import contextmanager

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(3203)
VOCAB, DIM, PROMPT, ANSWER, GROUP = 18, 32, 4, 6, 6
BETA, CLIP = 0.1, 0.2


class LoraLinear(nn.Module):
    def __init__(self, base, rank=4, alpha=8):
        super().__init__()
        self.base = base
        self.lora_a = nn.Parameter(torch.randn(rank, base.in_features) / math.sqrt(base.in_features))
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scaling, self.enabled = alpha / rank, True

    def forward(self, x):
        out = self.base(x)
        if self.enabled:
            out = out + self.scaling * (x @ self.lora_a.T @ self.lora_b.T)
        return out


class Layer(nn.Module):
    def __init__(self, dim, heads=2):
        super().__init__()
        self.heads, self.ln1, self.ln2 = heads, nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(dim, dim) for _ in range(4))
        self.up, self.down = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x):
        h = self.ln1(x)
        q, k, v = self.split(self.q_proj(h)), self.split(self.k_proj(h)), self.split(self.v_proj(h))
        h = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = x + self.o_proj(h)
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class CausalLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCAB, DIM), nn.Embedding(PROMPT + ANSWER, DIM)
        self.layers = nn.ModuleList(Layer(DIM) for _ in range(2))
        self.final_norm, self.lm_head = nn.LayerNorm(DIM), nn.Linear(DIM, VOCAB)

    def forward(self, ids):
        x = self.wte(ids) + self.wpe.weight[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.final_norm(x))


def add_adapters(model, targets=("q_proj", "v_proj", "up", "down")):
    for layer in model.layers:
        for name in targets:
            setattr(layer, name, LoraLinear(getattr(layer, name)))
    for name, parameter in model.named_parameters():
        parameter.requires_grad = "lora_" in name
    return model


@contextmanager
def adapters_off(model):
    adapters = [m for m in model.modules() if isinstance(m, LoraLinear)]
    for adapter in adapters:
        adapter.enabled = False
    yield
    for adapter in adapters:
        adapter.enabled = True


def answer_logps(model, ids):
    logits = model(ids[:, :-1])[:, PROMPT - 1 :]
    return logits.log_softmax(-1).gather(-1, ids[:, PROMPT:, None]).squeeze(-1)


@torch.no_grad()
def generate(model, ids):
    for _ in range(ANSWER):
        ids = torch.cat([ids, torch.multinomial(model(ids)[:, -1].softmax(-1), 1)], dim=1)
    return ids


def reward(ids):
    """Share of answer words that are a word of the prompt plus one."""
    return (ids[:, PROMPT:, None] == ids[:, None, :PROMPT] + 1).any(-1).float().mean(-1)


model = add_adapters(CausalLM())
optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=3e-3)

for step in range(18):
    prompts = torch.randint(0, VOCAB - 1, (5, PROMPT)).repeat_interleave(GROUP, dim=0)
    ids = generate(model, prompts)
    rewards = reward(ids)
    groups = rewards.view(-1, GROUP)
    advantages = (groups - groups.mean(1, keepdim=True)) / (groups.std(1, keepdim=True) + 1e-4)
    advantages = advantages.view(-1, 1)
    with torch.no_grad():
        old_logps = answer_logps(model, ids)
        with adapters_off(model):
            ref_logps = answer_logps(model, ids)
    for _ in range(2):
        logps = answer_logps(model, ids)
        ratio = torch.exp(logps - old_logps)
        surrogate = torch.min(ratio * advantages, ratio.clamp(1 - CLIP, 1 + CLIP) * advantages)
        kl = torch.exp(ref_logps - logps) - (ref_logps - logps) - 1
        loss = (BETA * kl - surrogate).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    if step % 4 == 0:
        print(f"step {step}: reward {rewards.mean():.3f}, kl {kl.mean().item():.4f}")
