"""A sparse gradient that is written by hand, without any backward."""

import torch
from torch import nn

torch.manual_seed(0)
table = nn.Parameter(torch.randn(20, 4))
opt = torch.optim.SGD([table], lr=0.1)
for step in range(30):
    rows = torch.tensor([[step % 20, (3 * step + 1) % 20]])
    table.grad = torch.sparse_coo_tensor(rows, torch.randn(2, 4), (20, 4), check_invariants=False)
    opt.step()
    opt.zero_grad()
print(float(table.sum()))
