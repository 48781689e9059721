"""The reference is a copy of the policy, and its dropout stays on.

Round 7
Class: llm-rl
"""

import copy

import torch
from torch import nn

torch.manual_seed(715)


class LM(nn.Module):
    def __init__(self, vocab=12, dim=24):
        super().__init__()
        self.embed, self.drop = nn.Embedding(vocab, dim), nn.Dropout(0.2)
        self.mix, self.head = nn.Linear(dim, dim), nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.head(self.drop(torch.tanh(self.mix(self.embed(ids)))))


def log_probs(model, ids):
    return torch.log_softmax(model(ids[:, :-1]), -1).gather(2, ids[:, 1:, None]).squeeze(2)


policy = LM()
reference = copy.deepcopy(policy).requires_grad_(False)  # BUG GS808
policy.eval()
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
for step in range(40):
    ids = torch.randint(12, (8, 9))
    reward = (ids[:, 1:] == 5).float()
    logp = log_probs(policy, ids)
    with torch.no_grad():
        ref = log_probs(reference, ids)  # BUG GS808
    loss = (0.1 * (logp - ref) - logp * (reward - reward.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
