"""The reference is the policy with its adapter switched off, as PEFT does it: no second model, and nothing drifts,
because only the adapter is trained. The value head is trained as a whole."""

import contextlib

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
VOCAB, PROMPT, ANSWER = 12, 3, 5


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.qkv, self.out = (
            nn.LayerNorm(width),
            nn.Linear(width, 3 * width),
            nn.Linear(width, width),
        )

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        return x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True))


class TinyLM(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.embed, self.head = nn.Embedding(VOCAB, width), nn.Linear(width, VOCAB, bias=False)
        self.layers = nn.ModuleList([Block(width), Block(width)])

    def hidden(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return x

    def forward(self, tokens):
        return self.head(self.hidden(tokens))


class LoraLinear(nn.Module):
    """The frozen layer plus a low-rank one that starts at zero."""

    enabled = True

    def __init__(self, base, rank=2, alpha=4.0):
        super().__init__()
        self.base, self.scaling = base.requires_grad_(False), alpha / rank
        self.lora_A = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        y = self.base(x)
        if LoraLinear.enabled:
            y = y + (F.dropout(x, 0.0, self.training) @ self.lora_A.T @ self.lora_B.T) * self.scaling
        return y


@contextlib.contextmanager
def disabled():
    LoraLinear.enabled = False
    try:
        yield
    finally:
        LoraLinear.enabled = True


def answer_log_probs(tokens):
    logp = model(tokens[:, :-1])[:, PROMPT - 1 :].log_softmax(-1)
    return logp.gather(-1, tokens[:, PROMPT:, None]).squeeze(-1)


model = TinyLM().requires_grad_(False)
for layer in model.layers:
    layer.qkv = LoraLinear(layer.qkv)
value_head = nn.Linear(16, 1)
trained = [p for p in [*model.parameters(), *value_head.parameters()] if p.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=1e-2)
for _ in range(8):
    tokens = torch.randint(VOCAB, (8, PROMPT))
    with torch.no_grad():
        for _ in range(ANSWER):
            tokens = torch.cat([tokens, model(tokens)[:, -1].softmax(-1).multinomial(1)], 1)
        old = answer_log_probs(tokens)
        with disabled():
            ref = answer_log_probs(tokens)
    returns = (tokens[:, PROMPT:] == 7).float().flip(1).cumsum(1).flip(1)
    for _ in range(2):
        new = answer_log_probs(tokens)
        values = value_head(model.hidden(tokens[:, :-1])[:, PROMPT - 1 :].detach()).squeeze(-1)
        advantage = (returns - values).detach()
        ratio = torch.exp(new - old)
        gain = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
        kl = torch.exp(ref - new) - (ref - new) - 1
        loss = (0.1 * kl - gain).mean() + 0.5 * F.mse_loss(values, returns)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
