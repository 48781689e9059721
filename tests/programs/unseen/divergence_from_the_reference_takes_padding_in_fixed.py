"""The policy term counts the tokens of the answer only; the divergence from the reference is averaged over padding, too.
Repaired here.

Round 8
Class: llm-rl
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(824)
VOCAB, BATCH, LENGTH, PAD = 20, 10, 9, 0
policy = nn.Sequential(nn.Embedding(VOCAB, 24), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, VOCAB))
reference = copy.deepcopy(policy).requires_grad_(False).eval()
with torch.no_grad():
    reference[3].weight.add_(0.05 * torch.randn_like(reference[3].weight))
    policy.load_state_dict(reference.state_dict())
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)


def log_probs(net, tokens):
    return F.log_softmax(net(tokens[:, :-1]), -1).gather(-1, tokens[:, 1:, None]).squeeze(-1)


def masked_mean(x, mask):
    return (x * mask).sum() / mask.sum()


for update in range(60):
    tokens = torch.randint(1, VOCAB, (BATCH, LENGTH))
    lengths = torch.randint(3, LENGTH + 1, (BATCH,))
    tokens[torch.arange(LENGTH) >= lengths[:, None]] = PAD
    mask = (torch.arange(1, LENGTH) < lengths[:, None]).float()
    reward = ((tokens[:, 1:] == 7).float() * mask).sum(1) / mask.sum(1)
    advantage = (reward - reward.mean()) / (reward.std() + 1e-4)
    logp = log_probs(policy, tokens)
    with torch.no_grad():
        fixed = log_probs(reference, tokens)
    kl = (fixed - logp).exp() - (fixed - logp) - 1
    surrogate = (logp - logp.detach()).exp() * advantage[:, None]
    loss = -masked_mean(surrogate, mask) + 0.1 * masked_mean(kl, mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
