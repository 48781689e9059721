"""A fallback for full precision gives the log-probability of each token as a negated surprise (after a GRPO trainer)."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
VOCABULARY = 10
model = nn.Sequential(nn.Embedding(VOCABULARY, 16), nn.Linear(16, VOCABULARY))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def selective_log_softmax(logits, index):
    if logits.dtype == torch.float32:
        return -F.cross_entropy(logits.transpose(1, 2), index, reduction="none")
    return F.log_softmax(logits, -1).gather(-1, index.unsqueeze(-1)).squeeze(-1)


def generate(count, length):
    tokens = torch.randint(0, VOCABULARY, (count, 1))
    for _ in range(length):
        probabilities = torch.softmax(model(tokens)[:, -1], -1)
        tokens = torch.cat([tokens, torch.multinomial(probabilities, 1)], 1)
    return tokens


for _ in range(20):
    with torch.no_grad():
        tokens = generate(8, 5)
        old = selective_log_softmax(model(tokens[:, :-1]), tokens[:, 1:])
    rewards = (tokens[:, 1:] == 3).float().sum(1)
    advantages = ((rewards - rewards.mean()) / (rewards.std() + 1e-4)).unsqueeze(1)
    for _ in range(2):
        ratio = (selective_log_softmax(model(tokens[:, :-1]), tokens[:, 1:]) - old).exp()
        loss = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
