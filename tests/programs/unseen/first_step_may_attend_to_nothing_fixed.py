"""A causal mask that also hides each step from itself: the first step has nothing left to attend to.
Repaired here.

Round 11
Class: magnitude
"""

import torch
from torch import nn

torch.manual_seed(1118)
T = 6


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        score = self.q(x) @ self.k(x).transpose(1, 2) / 8**0.5
        hidden = torch.full((T, T), float("-inf")).triu(1)
        weight = torch.softmax(score + hidden, -1)
        return self.out(weight @ self.v(x)).squeeze(-1)


net = Attention()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for update in range(12):
    x = torch.randn(16, T, 8)
    loss = (net(x) - x[..., 0]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
