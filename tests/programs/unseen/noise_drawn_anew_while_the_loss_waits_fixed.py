"""Noisy layers: acting draws new noise through `.data` between the forward of the loss and its backward.
Repaired here.

Round 10
Class: hidden writes
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1015)


class Noisy(nn.Module):
    def __init__(self, size, out):
        super().__init__()
        self.mu = nn.Parameter(torch.randn(out, size) * 0.2)
        self.sigma = nn.Parameter(torch.full((out, size), 0.1))
        self.register_buffer("noise", torch.randn(out, size))

    def draw(self):
        self.noise = torch.randn_like(self.noise)

    def forward(self, x):
        return F.linear(x, self.mu + self.sigma * self.noise)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Noisy(5, 32), Noisy(32, 3)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))

    def act(self, obs):
        self.first.draw()
        self.second.draw()
        with torch.no_grad():
            return self(obs).argmax(-1)


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(60):
    obs, action = torch.randn(32, 5), torch.randint(3, (32, 1))
    loss = (net(obs).gather(1, action).squeeze(1) - obs[:, 0]).pow(2).mean()
    net.act(torch.randn(4, 5))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
