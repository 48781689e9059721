"""Long recurrences and deep stacks whose gradients stay within bounds, or are clipped."""

import torch
from torch import nn

torch.manual_seed(0)
cell, readout = nn.GRUCell(4, 16), nn.Linear(16, 1)
optimizer = torch.optim.Adam([*cell.parameters(), *readout.parameters()], lr=1e-3)
for update in range(20):
    state, loss = torch.zeros(8, 16), 0.0
    for _ in range(40):
        state = cell(torch.randn(8, 4), state)
        loss = loss + (readout(state) - 1.0).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

transition = nn.Linear(8, 8)
nn.init.orthogonal_(transition.weight, gain=2.0)
optimizer = torch.optim.Adam(transition.parameters(), lr=1e-5)
for update in range(20):
    state = torch.randn(8, 8)
    for _ in range(20):
        state = transition(state)
    loss = (state - 1.0).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(transition.parameters(), 1.0)
    optimizer.step()
