"""Preference optimisation whose reference is the policy in evaluation mode, not a copy of it.
Repaired here.

Round 4
Class: llm-rl
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(428)


class Scorer(nn.Module):
    def __init__(self, vocab=15, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.drop = nn.Dropout(0.1)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.head(self.rnn(self.drop(self.embed(ids)))[0])


def answer_log_prob(model, ids):
    logits = model(ids[:, :-1])
    return -F.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").sum(1)


policy = Scorer()
reference = copy.deepcopy(policy).eval()
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
for step in range(40):
    chosen, rejected = torch.randint(15, (8, 10)), torch.randint(15, (8, 10))
    chosen[:, -3:] = 4
    with torch.no_grad():
        ref_chosen = answer_log_prob(reference, chosen)
        ref_rejected = answer_log_prob(reference, rejected)
    margin = answer_log_prob(policy, chosen) - answer_log_prob(policy, rejected) - (ref_chosen - ref_rejected)
    loss = -F.logsigmoid(0.1 * margin).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
