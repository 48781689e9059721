"""Truncated back-propagation through time: the state is detached every few steps."""

import torch
from torch import nn

torch.manual_seed(0)
cell, head = nn.LSTMCell(3, 12), nn.Linear(12, 1)
optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=1e-3)
state, loss = (torch.zeros(4, 12), torch.zeros(4, 12)), 0.0
for step in range(1, 41):
    state = cell(torch.randn(4, 3), state)
    loss = loss + (head(state[0]).squeeze(-1) - torch.randn(4)).pow(2).mean()
    if step % 5 == 0:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        state, loss = tuple(s.detach() for s in state), 0.0
