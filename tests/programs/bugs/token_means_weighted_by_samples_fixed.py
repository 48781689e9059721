"""PPO with micro-batches of a fixed number of tokens: each loss is a mean over tokens, weighted with its share of the
samples. (After verl pull requests 906 and 5641.)"""

import torch
from torch import nn

torch.manual_seed(0)
VOCAB, LENGTH, SAMPLES = 12, 12, 12
policy = nn.Sequential(nn.Embedding(VOCAB, 16), nn.Tanh(), nn.Linear(16, VOCAB))
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)


def masked_mean(x, mask, count):
    return (x * mask).sum() / count


def by_length(lengths, most=36):
    """Indices in groups of no more than so many tokens."""
    groups, tokens = [[]], 0
    for i in lengths.argsort().tolist():
        if groups[-1] and tokens + int(lengths[i]) > most:
            groups.append([])
            tokens = 0
        groups[-1].append(i)
        tokens += int(lengths[i])
    return groups


for update in range(12):
    tokens = torch.randint(VOCAB, (SAMPLES, LENGTH + 1))
    lengths = torch.randint(2, LENGTH + 1, (SAMPLES,))
    mask = (torch.arange(LENGTH) < lengths[:, None]).float()
    advantages = torch.randn(SAMPLES, 1)
    for rows in by_length(lengths):
        logp = policy(tokens[rows, :-1]).log_softmax(-1).gather(-1, tokens[rows, 1:, None]).squeeze(-1)
        ratio = torch.exp(logp - logp.detach())
        loss = masked_mean(-ratio * advantages[rows], mask[rows], mask.sum())
        loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
