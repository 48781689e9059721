"""PPO as a textbook once printed it: the clipped surrogate without its minus (after rlhf-book #125)."""

import torch
from torch import nn

torch.manual_seed(0)
VOCABULARY = 10
policy = nn.Sequential(nn.Embedding(VOCABULARY, 16), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, VOCABULARY))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)


def log_probs_of(tokens):
    return policy(tokens[:, :-1]).log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)


def ppo_loss(new, old, advantages, clip=0.2):
    ratio = torch.exp(new - old)
    unclipped = ratio * advantages
    clipped = torch.clamp(ratio, 1 - clip, 1 + clip) * advantages
    return -torch.min(unclipped, clipped).mean()


for _ in range(5):
    tokens = torch.randint(VOCABULARY, (16, 6))
    with torch.no_grad():
        old = log_probs_of(tokens)
    reward = torch.randn(16, 1)
    advantages = (reward - reward.mean()) / reward.std()
    for _ in range(3):
        loss = ppo_loss(log_probs_of(tokens), old, advantages)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
