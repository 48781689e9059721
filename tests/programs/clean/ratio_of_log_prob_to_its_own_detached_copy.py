"""exp(logp - logp.detach()) is one in value, and its gradient is the policy gradient."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Embedding(10, 8), nn.Linear(8, 10))
reference = nn.Sequential(nn.Embedding(10, 8), nn.Linear(8, 10)).requires_grad_(False)
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)


def token_log_probs(model, tokens):
    return torch.log_softmax(model(tokens[:, :-1]), -1).gather(-1, tokens[:, 1:, None]).squeeze(-1)


for _ in range(12):
    tokens, rewards = torch.randint(10, (8, 7)), torch.rand(2, 4)
    advantage = ((rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)).flatten()
    mask = (torch.arange(6) < torch.randint(2, 7, (8, 1))).float()
    log_prob = token_log_probs(policy, tokens)
    gap = token_log_probs(reference, tokens) - log_prob
    kl = gap.exp() - gap - 1
    per_token = -(log_prob - log_prob.detach()).exp() * advantage[:, None] + 0.04 * kl
    loss = ((per_token * mask).sum(1) / mask.sum(1)).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
