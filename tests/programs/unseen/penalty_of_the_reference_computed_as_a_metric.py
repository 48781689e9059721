"""The divergence from the reference is computed under `no_grad` with the metrics, and then added to the loss.

Round 6
Class: llm-rl
"""

import copy

import torch
from torch import nn

torch.manual_seed(617)


class LM(nn.Module):
    def __init__(self, vocab=12, dim=20):
        super().__init__()
        self.embed, self.mix, self.head = nn.Embedding(vocab, dim), nn.Linear(dim, dim), nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.head(torch.tanh(self.mix(self.embed(ids).cumsum(1))))


def log_probs(model, ids):
    return torch.log_softmax(model(ids[:, :-1]), -1).gather(2, ids[:, 1:, None]).squeeze(2)


policy = LM()
reference = copy.deepcopy(policy).requires_grad_(False)
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
for step in range(40):
    ids = torch.randint(12, (8, 9))
    reward = (ids[:, 1:] == 5).float()
    logp = log_probs(policy, ids)
    with torch.no_grad():  # BUG GS202
        kl = (log_probs(policy, ids) - log_probs(reference, ids)).mean()  # BUG GS202
    loss = -(logp * (reward - reward.mean())).mean() + 0.1 * kl
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
