"""GRPO with a frozen copy as reference, which is still in training mode: before the first step it disagrees with the
policy that it is a copy of."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
VOCABULARY = 12


class TinyLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.drop = nn.Embedding(VOCABULARY, 32), nn.Dropout(0.3)
        self.head = nn.Linear(32, VOCABULARY)

    def forward(self, tokens):
        return self.head(self.drop(self.embed(tokens)))


def log_probs_of(model, tokens):
    return model(tokens[:, :-1]).log_softmax(-1).gather(2, tokens[:, 1:, None]).squeeze(2)


policy = TinyLM()
reference = copy.deepcopy(policy).requires_grad_(False)  # BUG GS808
policy.eval()
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
for _ in range(14):
    tokens, advantage = torch.randint(VOCABULARY, (16, 6)), torch.randn(16, 1)
    with torch.no_grad():
        ref = log_probs_of(reference, tokens)  # BUG GS808
    log_prob = log_probs_of(policy, tokens)
    difference = ref - log_prob
    kl = difference.exp() - difference - 1
    loss = (-log_prob * advantage + 0.05 * kl).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
