"""A reward model is trained on pairs: the scores of the chosen and the rejected answers are collected in new tensors.
Repaired here.

Round 3
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(319)


class RewardModel(nn.Module):
    def __init__(self, vocab=16, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.score = nn.Sequential(nn.Linear(dim, 24), nn.Tanh(), nn.Linear(24, 1))

    def forward(self, ids):
        return self.score(self.embed(ids).mean(0)).squeeze(-1)


def score_all(model, answers):
    return torch.stack([model(answer) for answer in answers])


model = RewardModel()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(40):
    chosen = [torch.randint(8, 16, (n,)) for n in (5, 7, 6, 4)]
    rejected = [torch.randint(0, 8, (n,)) for n in (6, 4, 5, 7)]
    margin = score_all(model, chosen) - score_all(model, rejected)
    loss = -F.logsigmoid(margin).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
