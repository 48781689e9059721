"""An embedding with sparse gradients and plain SGD."""

import torch
from torch import nn

torch.manual_seed(0)
table, head = nn.Embedding(50, 8, sparse=True), nn.Linear(8, 1)
opt = torch.optim.SGD([*table.parameters(), *head.parameters()], lr=0.1)
for _ in range(30):
    ids = torch.randint(0, 50, (16,))
    loss = (head(table(ids)).squeeze(1) - ids.float() / 50).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(float(loss))
