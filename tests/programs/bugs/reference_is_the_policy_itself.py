"""RLHF: the reference is a second name for the policy, so that the KL penalty is always zero."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
VOCABULARY = 12


def language_model():
    return nn.Sequential(
        nn.Embedding(VOCABULARY, 16), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, VOCABULARY)
    )


def log_probs_of(model, tokens):
    return model(tokens[:, :-1]).log_softmax(-1).gather(2, tokens[:, 1:, None]).squeeze(2)


policy = language_model()
reference = policy  # BUG GS808
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
for _ in range(14):
    tokens, advantage = torch.randint(VOCABULARY, (16, 6)), torch.randn(16, 1)
    log_prob = log_probs_of(policy, tokens)
    with torch.no_grad():
        ref = log_probs_of(reference, tokens)  # BUG GS808
    kl = (ref - log_prob).exp() - (ref - log_prob) - 1
    loss = (-(log_prob - log_prob.detach()).exp() * advantage + 0.05 * kl).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
