"""GRPO over micro-batches of answers with different lengths: all are averaged over the window's tokens."""

import torch
from torch import nn

torch.manual_seed(0)
VOCAB, LENGTH, WINDOW = 12, 10, 4
policy = nn.Sequential(nn.Embedding(VOCAB, 16), nn.Linear(16, VOCAB))
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)


def answers():
    tokens = torch.randint(VOCAB, (4, LENGTH))
    mask = torch.arange(LENGTH) < torch.randint(2, LENGTH + 1, (4, 1))
    return tokens, mask, torch.randn(4, 1)


for update in range(12):
    window = [answers() for _ in range(WINDOW)]
    total = sum(mask[:, 1:].sum().item() for _, mask, _ in window)
    for tokens, mask, advantage in window:
        log_prob = policy(tokens[:, :-1]).log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
        ratio = torch.exp(log_prob - log_prob.detach())
        per_token = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
        kept = mask[:, 1:].float()
        loss = (per_token * kept).sum() / total
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
