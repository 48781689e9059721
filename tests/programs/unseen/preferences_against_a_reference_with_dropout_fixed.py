"""Preferences: the reference is a copy that was left in training mode, so its dropout is other at every call.
Repaired here.

Round 11
Class: llm-rl
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1123)
VOCAB = 13


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.drop = nn.Embedding(VOCAB, 32), nn.Dropout(0.3)
        self.rnn, self.head = nn.GRU(32, 32, batch_first=True), nn.Linear(32, VOCAB)

    def score(self, tokens):
        logits = self.head(self.drop(self.rnn(self.embed(tokens[:, :-1]))[0]))
        return F.log_softmax(logits, -1).gather(-1, tokens[:, 1:, None]).squeeze(-1).sum(1)


policy = Model()
reference = copy.deepcopy(policy).requires_grad_(False)
policy.eval()
reference.eval()
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
for update in range(40):
    good, bad = torch.randint(VOCAB, (16, 7)), torch.randint(VOCAB, (16, 7))
    with torch.no_grad():
        fixed_good, fixed_bad = reference.score(good), reference.score(bad)
    margin = (policy.score(good) - fixed_good) - (policy.score(bad) - fixed_bad)
    loss = -F.logsigmoid(0.5 * margin).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
