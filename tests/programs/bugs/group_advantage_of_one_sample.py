"""GRPO with groups of one completion: their standard deviation is NaN."""

import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
torch.manual_seed(0)
GROUP = 1
policy = nn.Sequential(nn.Embedding(12, 8), nn.Linear(8, 12))
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)


def group_advantages(rewards):
    grouped = rewards.view(-1, GROUP)
    spread = grouped.std(dim=1, keepdim=True)  # BUG GS503
    return ((grouped - grouped.mean(1, keepdim=True)) / (spread + 1e-4)).view(-1)  # BUG GS503


for _ in range(4):
    tokens, rewards = torch.randint(12, (8, 6)), torch.rand(8)
    log_probs = torch.log_softmax(policy(tokens[:, :-1]), -1)
    log_probs = log_probs.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    ratio = (log_probs - log_probs.detach()).exp()
    loss = -(ratio * group_advantages(rewards)[:, None]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
