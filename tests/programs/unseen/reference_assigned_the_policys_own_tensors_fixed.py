"""The reference model is filled by assignment from the policy's state: both hold the same tensors.
Repaired here.

Round 10
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1022)
VOCAB = 14


def make():
    return nn.Sequential(nn.Embedding(VOCAB, 24), nn.Linear(24, 24), nn.GELU(), nn.Linear(24, VOCAB))


def log_probs(model, tokens):
    return F.log_softmax(model(tokens[:, :-1]), -1).gather(-1, tokens[:, 1:, None]).squeeze(-1)


policy, reference = make(), make()
reference.load_state_dict(policy.state_dict())
optimizer = torch.optim.AdamW(policy.parameters(), lr=2e-3)
for update in range(40):
    tokens = torch.randint(VOCAB, (16, 8))
    reward = (tokens[:, 1:] == 4).float().mean(1)
    advantage = (reward - reward.mean()) / (reward.std() + 1e-4)
    logp = log_probs(policy, tokens)
    with torch.no_grad():
        fixed = log_probs(reference, tokens)
    kl = (fixed - logp).exp() - (fixed - logp) - 1
    ratio = (logp - logp.detach()).exp()
    loss = -(ratio * advantage[:, None] - 0.1 * kl).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
