"""Two backward calls into one sparse gradient, scaled by hand before the step."""

import torch
from torch import nn

torch.manual_seed(0)
table = nn.EmbeddingBag(50, 8, sparse=True, mode="sum")
opt = torch.optim.SGD(table.parameters(), lr=0.05)
for _ in range(30):
    opt.zero_grad()
    for _ in range(2):
        ids = torch.randint(0, 50, (8, 3))
        (table(ids).sum(1) - 1.0).pow(2).mean().div(2).backward()
    grad = table.weight.grad.coalesce()
    norm = grad.values().norm()
    if norm > 1.0:
        table.weight.grad = grad / norm
    opt.step()
print(float(norm))
