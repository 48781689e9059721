"""Sparse adjacency times dense weights, in COO and in CSR."""

import torch
from torch import nn

torch.manual_seed(0)
adjacency = (torch.rand(12, 12) < 0.3).float()
coo, csr = adjacency.to_sparse(), adjacency.to_sparse_csr()
weight, out = nn.Parameter(torch.randn(12, 6) / 3), nn.Linear(6, 1)
opt = torch.optim.Adam([weight, *out.parameters()], lr=1e-2)
target = adjacency.sum(1)
for step in range(30):
    hidden = torch.tanh(torch.sparse.mm(coo, weight) if step % 2 else csr @ weight)
    loss = (out(hidden).squeeze(1) - target).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(float(loss))
