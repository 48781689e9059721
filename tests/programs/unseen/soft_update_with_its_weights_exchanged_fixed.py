"""The soft update keeps a two-hundredth of the target and takes the rest from the online network.
Repaired here.

Round 7
Class: meaning
"""

import copy

import torch
from torch import nn

torch.manual_seed(718)

TAU = 0.005


class TwinCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = (nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1)) for _ in range(2))

    def forward(self, x):
        return self.one(x), self.two(x)


critic = TwinCritic()
target = copy.deepcopy(critic).requires_grad_(False)
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(60):
    now, after = torch.randn(32, 6), torch.randn(32, 6)
    goal = now[:, :1] + 0.95 * torch.min(*target(after))
    first, second = critic(now)
    loss = (first - goal).pow(2).mean() + (second - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for t, c in zip(target.parameters(), critic.parameters()):
            t.copy_((1 - TAU) * t + TAU * c)
