"""Everything but the adapters is frozen, and the value head with it; the optimizer is given all parameters.
Repaired here.

Round 2
Class: llm-rl
"""

import torch
from torch import nn

torch.manual_seed(238)


class LoraLinear(nn.Module):
    def __init__(self, base, rank=2):
        super().__init__()
        self.base = base
        self.lora_a = nn.Parameter(torch.randn(rank, base.in_features) * 0.1)
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + x @ self.lora_a.T @ self.lora_b.T


class PolicyWithValue(nn.Module):
    def __init__(self, vocab=12, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.mix = LoraLinear(nn.Linear(dim, dim))
        self.lm_head = nn.Linear(dim, vocab)
        self.value_head = nn.Linear(dim, 1)

    def forward(self, ids):
        hidden = torch.tanh(self.mix(self.embed(ids))).cumsum(1)
        return self.lm_head(hidden), self.value_head(hidden).squeeze(-1)


def only_adapters(model):
    for name, p in model.named_parameters():
        p.requires_grad = "lora" in name or "value_head" in name


model = PolicyWithValue()
only_adapters(model)
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)
for step in range(50):
    ids = torch.randint(12, (8, 10))
    logits, value = model(ids[:, :-1])
    log_prob = torch.log_softmax(logits, -1).gather(-1, ids[:, 1:, None]).squeeze(-1)
    reward = (ids[:, 1:] % 3 == 0).float()
    advantage = (reward - value).detach()
    loss = -(log_prob * advantage).mean() + 0.5 * (value - reward).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
