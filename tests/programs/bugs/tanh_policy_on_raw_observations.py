"""Unscaled observations push the tanh of a deterministic policy so far out that it is flat."""

import torch
from torch import nn

torch.manual_seed(0)
SCALE = 1.0e4


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, position):
        hidden = self.layer(position)
        return torch.tanh(self.out(hidden))  # BUG GS208


actor = Actor()
critic = nn.Linear(4, 1).requires_grad_(False)
optimizer = torch.optim.Adam(actor.parameters(), lr=1e-4)
for _ in range(14):
    position = SCALE * (1.0 + torch.rand(16, 3))
    action = actor(position)
    loss = -critic(torch.cat([position / SCALE, action], -1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
