"""Preference learning: the scores of each pair are put into a fresh tensor."""

import torch
from torch import nn

torch.manual_seed(0)


class RewardModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.score = nn.Linear(8, 1)

    def forward(self, tokens):
        return self.score(self.embed(tokens).mean(0)).squeeze(-1)


model = RewardModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(8):
    pairs = [(torch.randint(20, (6,)), torch.randint(20, (6,))) for _ in range(4)]
    scores = torch.stack([torch.stack([model(good), model(bad)]) for good, bad in pairs])
    loss = -nn.functional.logsigmoid(scores[:, 0] - scores[:, 1]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
