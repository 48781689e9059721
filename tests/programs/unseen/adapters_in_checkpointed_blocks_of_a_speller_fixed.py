"""Group-relative policy optimisation of low-rank adapters in a small frozen decoder: the answers shall alternate
between vowels and consonants. The decoder's blocks are checkpointed while it is trained.

Round 31
Class: llm-rl
"""

import contextlib
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

LETTERS, VOWELS = 16, 5
ANSWER, GROUP, BETA, EPSILON = 7, 6, 0.03, 0.2


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.ln_1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.ln_2(x))))


class Decoder(nn.Module):
    def __init__(self, width=32, layers=2, positions=12):
        super().__init__()
        self.embed_tokens = nn.Embedding(LETTERS, width)
        self.embed_positions = nn.Embedding(positions, width)
        self.layers = nn.ModuleList(Block(width, heads=2) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, LETTERS, bias=False)
        self.gradient_checkpointing = False

    def forward(self, input_ids):
        positions = torch.arange(input_ids.shape[1])
        hidden = self.embed_tokens(input_ids) + self.embed_positions(positions)
        for layer in self.layers:
            if self.gradient_checkpointing and self.training:
                hidden = checkpoint(layer, hidden, use_reentrant=True)
            else:
                hidden = layer(hidden)
        return self.lm_head(self.norm(hidden))


class LoraLinear(nn.Module):
    def __init__(self, base, rank=4, alpha=16):
        super().__init__()
        self.base, self.scaling, self.enabled = base, alpha / rank, True
        self.lora_A = nn.Parameter(torch.empty(rank, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))

    def forward(self, x):
        y = self.base(x)
        return y + self.scaling * F.linear(F.linear(x, self.lora_A), self.lora_B) if self.enabled else y


def get_peft_model(model, targets=("qkv", "out")):
    model.requires_grad_(False)
    model.embed_tokens.register_forward_hook(lambda module, inputs, output: output.requires_grad_(True))
    for layer in model.layers:
        for name in targets:
            setattr(layer, name, LoraLinear(getattr(layer, name)))
    return model


@contextlib.contextmanager
def disable_adapter(model):
    adapters = [module for module in model.modules() if isinstance(module, LoraLinear)]
    for adapter in adapters:
        adapter.enabled = False
    yield
    for adapter in adapters:
        adapter.enabled = True


@torch.no_grad()
def generate(model, prompts):
    ids = prompts
    for _ in range(ANSWER):
        ids = torch.cat([ids, torch.multinomial(model(ids)[:, -1].softmax(dim=-1), 1)], dim=1)
    return ids


def per_token_logps(model, ids):
    logps = model(ids[:, :-1])[:, -ANSWER:].log_softmax(dim=-1)
    return logps.gather(-1, ids[:, -ANSWER:, None]).squeeze(-1)


def alternation(ids):
    vowel = ids[:, -ANSWER - 1 :] < VOWELS
    return (vowel[:, 1:] != vowel[:, :-1]).float().mean(dim=1)


def main(steps=45):
    torch.manual_seed(3110)
    base = Decoder()
    base.gradient_checkpointing = True
    model = get_peft_model(base)
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trainable, lr=5e-3, weight_decay=0.0)

    for step in range(steps):
        prompts = torch.randint(0, LETTERS, (6, 3)).repeat_interleave(GROUP, dim=0)
        model.eval()
        ids = generate(model, prompts)
        with torch.no_grad(), disable_adapter(model):
            ref_logps = per_token_logps(model, ids)
        rewards = alternation(ids)
        groups = rewards.view(-1, GROUP)
        advantages = (groups - groups.mean(dim=1, keepdim=True)) / (groups.std(dim=1, keepdim=True) + 1e-4)
        advantages = advantages.view(-1, 1)

        model.train()
        logps = per_token_logps(model, ids)
        ratio = torch.exp(logps - logps.detach())
        surrogate = torch.min(ratio * advantages, ratio.clamp(1 - EPSILON, 1 + EPSILON) * advantages)
        kl = torch.exp(ref_logps - logps) - (ref_logps - logps) - 1
        loss = (BETA * kl - surrogate).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(trainable, 1.0)
        optimizer.step()
        if step % 15 == 0:
            print(f"step {step}: reward {rewards.mean():.3f}, kl {kl.mean():.4f}")


if __name__ == "__main__":
    main()
