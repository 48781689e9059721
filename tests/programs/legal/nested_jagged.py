"""Sequences of different lengths in one nested tensor, jagged layout."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(30):
    rows = [torch.randn(2 + (step + i) % 3, 4) for i in range(5)]
    batch = torch.nested.nested_tensor(rows, layout=torch.jagged)
    out = net(batch)
    loss = (out.values() - batch.values().sum(-1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(float(loss))
