"""The packed state of an LSTM is split into its halves, and the finished episodes are cleared in one of them.

Round 3
Class: forward errors
"""

import torch
from torch import nn

torch.manual_seed(301)


class PackedMemory(nn.Module):
    def __init__(self, obs_dim=4, hidden=12):
        super().__init__()
        self.cell = nn.LSTMCell(obs_dim, hidden)
        self.out = nn.Linear(hidden, 2)

    def step(self, obs, packed, done):
        h, c = packed.chunk(2, dim=-1)
        c[done] = 0.0  # BUG GS101
        h, c = self.cell(obs, (h, c))
        return self.out(h), torch.cat([h, c], -1)


net = PackedMemory()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for update in range(20):
    packed = net.cell.bias_hh[:24].expand(8, 24) * 0.0
    loss = 0.0
    for t in range(5):
        obs, done = torch.randn(8, 4), torch.rand(8) < 0.2
        q, packed = net.step(obs, packed, done)
        loss = loss + (q - obs[:, :2]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
