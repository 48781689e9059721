"""Rows with a graph are put into a nested tensor; its attention is differentiated."""

import torch
from torch import nn

torch.manual_seed(0)
embed, head = nn.Linear(4, 8), nn.Linear(8, 1)
opt = torch.optim.Adam([*embed.parameters(), *head.parameters()], lr=1e-2)
for step in range(20):
    rows = [torch.randn(2 + (step + i) % 3, 4) for i in range(4)]
    nested = torch.nested.as_nested_tensor([embed(r) for r in rows], layout=torch.jagged)
    pooled = torch.stack([part.mean(0) for part in nested.unbind()])
    loss = (head(pooled).squeeze(1) - torch.stack([r.mean() for r in rows])).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(float(loss))
