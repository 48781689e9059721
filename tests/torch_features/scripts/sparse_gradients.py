# finds: GS401
import torch
from torch import nn

table, head = nn.Embedding(20, 4, sparse=True), nn.Linear(4, 1)
sparse_opt = torch.optim.SparseAdam(table.parameters(), lr=1e-2)
opt = torch.optim.SGD(head.parameters(), lr=1e-2)
for _ in range(30):
    s, r = torch.randint(0, 20, (8,)), torch.randn(8)
    loss = (head(table(s)).squeeze(1) - r).pow(2).mean()
    sparse_opt.zero_grad()
    #!
    opt.zero_grad()
    loss.backward()
    sparse_opt.step()  # BUG
    opt.step()
