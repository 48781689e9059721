"""Weights tied between embedding and output, and torch's own averaged model for evaluation."""

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

torch.manual_seed(0)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(10, 12), nn.GRU(12, 12, batch_first=True)
        self.out = nn.Linear(12, 10, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, tokens):
        return self.out(self.rnn(self.embed(tokens))[0])


model = Tied()
average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.95))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(12):
    tokens = torch.randint(10, (8, 6))
    loss = nn.functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update_parameters(model)
    if step % 4 == 3:
        with torch.no_grad():
            average(tokens)
