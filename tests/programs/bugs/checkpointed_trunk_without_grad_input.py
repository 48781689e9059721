"""Reentrant checkpointing of a trunk whose input needs no gradient: the trunk gets none either."""

import warnings

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

warnings.simplefilter("ignore")
torch.manual_seed(0)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.head = nn.Linear(32, 1)

    def forward(self, obs):
        hidden = checkpoint(self.trunk, obs, use_reentrant=True)  # BUG GS210
        return self.head(hidden).squeeze(-1)


critic = Critic()
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(10):
    loss = (critic(torch.randn(16, 4)) - torch.randn(16)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
