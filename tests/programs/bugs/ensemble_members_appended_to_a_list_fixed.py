"""The same with a `ModuleList`."""

import torch
from torch import nn

torch.manual_seed(0)


def member(width):
    return nn.Sequential(nn.Linear(width, 8), nn.ReLU(), nn.Linear(8, 1))


class Base(nn.Module):
    pass


class Ensemble(Base):
    def __init__(self, size=3):
        super().__init__()
        self.trunk = nn.Linear(4, 8)
        members = []
        for _ in range(size):
            members += [member(8)]
        self.members = nn.ModuleList(members)

    def forward(self, obs):
        hidden = torch.tanh(self.trunk(obs))
        return torch.stack([m(hidden) for m in self.members]).squeeze(-1)


ensemble = Ensemble()
optimizer = torch.optim.Adam(ensemble.parameters(), lr=1e-3)
for _ in range(16):
    loss = (ensemble(torch.randn(16, 4)) - torch.randn(16)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
