"""Sparse Adam beside a dense one, gradients kept as zeros."""

import torch
from torch import nn

torch.manual_seed(0)
table, head = nn.Embedding(50, 8, sparse=True), nn.Linear(8, 1)
sparse = torch.optim.SparseAdam(list(table.parameters()), lr=1e-2)
dense = torch.optim.Adam(head.parameters(), lr=1e-2)
for _ in range(30):
    ids = torch.randint(0, 50, (16,))
    loss = (head(table(ids)).squeeze(1) - ids.float() / 50).pow(2).mean()
    sparse.zero_grad(set_to_none=False)
    dense.zero_grad(set_to_none=False)
    loss.backward()
    sparse.step()
    dense.step()
print(float(loss))
