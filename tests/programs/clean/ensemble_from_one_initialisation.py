"""An ensemble copied from one network, each member trained on its own bootstrap mask."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
base = nn.Sequential(nn.Linear(4, 16), nn.SiLU(), nn.Linear(16, 2))
members = nn.ModuleList(copy.deepcopy(base) for _ in range(3))
optimizer = torch.optim.Adam(members.parameters(), lr=1e-3)
for _ in range(14):
    x, y = torch.randn(32, 4), torch.randn(32, 1)
    mask = (torch.rand(3, 32) < 0.7).float()
    out = torch.stack([member(x) for member in members])
    mean, log_var = out.chunk(2, -1)
    log_var = -5 + nn.functional.softplus(log_var + 5)
    nll = ((mean - y).pow(2) * (-log_var).exp() + log_var).squeeze(-1)
    loss = (nll * mask).sum() / mask.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
