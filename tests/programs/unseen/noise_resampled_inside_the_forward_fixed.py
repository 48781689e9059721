"""A noisy layer draws its noise into a buffer at each forward: the second forward overwrites what the first
one's backward needs.
Repaired here.

Class: hidden writes
"""

import torch
from torch import nn

torch.manual_seed(229)


class NoisyLinear(nn.Module):
    def __init__(self, rows, cols):
        super().__init__()
        self.mu = nn.Parameter(torch.randn(cols, rows) / rows**0.5)
        self.sigma = nn.Parameter(torch.full((cols, rows), 0.1))
        self.register_buffer("noise", torch.zeros(cols, rows))

    def forward(self, x):
        self.noise = torch.randn_like(self.noise)
        return x @ (self.mu + self.sigma * self.noise).T


net = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), NoisyLinear(24, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(120):
    obs, next_obs = torch.randn(32, 4), torch.randn(32, 4)
    action = torch.randint(0, 2, (32, 1))
    chosen = net(obs).gather(1, action).squeeze(1)
    with torch.no_grad():
        goal = obs.gather(1, action).squeeze(1) + 0.5 * net(next_obs).max(1).values
    loss = (chosen - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
