"""Gradient accumulation over four micro-batches, ten of them: two are left over, and the next epoch's first step
takes them along.

Round 2
Class: llm-rl
"""

import torch
from torch import nn

torch.manual_seed(241)
model = nn.Sequential(nn.Embedding(16, 24), nn.Linear(24, 48), nn.GELU(), nn.Linear(48, 16))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
ACCUMULATE = 4


def grpo_loss(ids, old, advantage):
    logits = model(ids[:, :-1])
    new = torch.log_softmax(logits, -1).gather(-1, ids[:, 1:, None]).squeeze(-1)
    ratio = (new - old).exp()
    surrogate = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
    return -surrogate.mean()


def train_epoch(micro_batches):
    for i, (ids, old, advantage) in enumerate(micro_batches):
        (grpo_loss(ids, old, advantage) / ACCUMULATE).backward()
        if (i + 1) % ACCUMULATE == 0:  # BUG GS401
            optimizer.step()  # BUG GS401
            optimizer.zero_grad()


for epoch in range(15):
    micro_batches = []
    for _ in range(10):
        ids = torch.randint(16, (4, 9))
        with torch.no_grad():
            logits = model(ids[:, :-1])
            old = torch.log_softmax(logits, -1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        reward = (ids[:, 1:] % 2 == 0).float().mean(1, keepdim=True)
        micro_batches.append((ids, old, reward - reward.mean()))
    train_epoch(micro_batches)
