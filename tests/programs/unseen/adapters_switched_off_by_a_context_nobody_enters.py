"""A policy of low-rank adapters is to be its own reference with the adapters off; the context manager that switches
them off is called and never entered, and the reference is the policy of the moment.

Round 29
Class: llm-rl
"""

from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, rank=4, scale=2.0):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.lora_a = nn.Parameter(torch.randn(rank, base.in_features) * 0.2)
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale, self.enabled = scale, True

    def forward(self, x):
        y = self.base(x)
        if self.enabled:
            y = y + self.scale * (x @ self.lora_a.T @ self.lora_b.T)
        return y


class TinyLM(nn.Module):
    def __init__(self, vocab=20, width=32, length=10):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, width), nn.Embedding(length, width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm, self.lm_head = nn.LayerNorm(width), nn.Linear(width, vocab, bias=False)

    def forward(self, ids):
        x = self.tok(ids) + self.pos.weight[: ids.shape[1]]
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        return self.lm_head(x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


class PeftLM(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.model = base.requires_grad_(False)
        base.qkv, base.out = LoRALinear(base.qkv), LoRALinear(base.out)
        base.lm_head = LoRALinear(base.lm_head)

    def forward(self, ids):
        return self.model(ids)

    @contextmanager
    def disable_adapter(self):
        layers = [m for m in self.modules() if isinstance(m, LoRALinear)]
        for layer in layers:
            layer.enabled = False
        try:
            yield
        finally:
            for layer in layers:
                layer.enabled = True


def completion_logps(model, ids, start):
    logps = model(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
    return logps[:, start - 1 :]


def main(prompt_length=4, new=6, prompts=4, group=5, beta=0.2):
    torch.manual_seed(2921)
    model = PeftLM(TinyLM())
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trainable, lr=5e-3)
    for step in range(30):
        ids = torch.randint(20, (prompts, prompt_length)).repeat_interleave(group, 0)
        with torch.no_grad():
            for _ in range(new):
                ids = torch.cat([ids, model(ids)[:, -1].softmax(-1).multinomial(1)], 1)
        reward = (ids[:, prompt_length:] < 5).float().mean(1).view(prompts, group)
        advantage = (reward - reward.mean(1, keepdim=True)) / (reward.std(1, keepdim=True) + 1e-4)
        with torch.no_grad():
            model.disable_adapter()  # BUG GS808
            ref_logps = completion_logps(model, ids, prompt_length)  # BUG GS808
        logps = completion_logps(model, ids, prompt_length)
        difference = ref_logps - logps
        kl = difference.exp() - difference - 1
        gain = (logps - logps.detach()).exp() * advantage.view(-1, 1)
        loss = (beta * kl - gain).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} reward {reward.mean():.3f} kl {kl.mean():.5f}")


main()
