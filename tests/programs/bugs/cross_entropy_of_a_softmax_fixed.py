"""Behaviour cloning: the policy network returns probabilities, cross_entropy wants logits."""

import torch
from torch import nn

torch.manual_seed(0)


class Cloner(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 16), nn.Linear(16, 3)])

    def forward(self, obs):
        hidden = torch.relu(self.layers[0](obs))
        return self.layers[1](hidden)


cloner = Cloner()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(cloner.parameters(), lr=1e-3)
for _ in range(12):
    loss = criterion(cloner(torch.randn(16, 4)), torch.randint(3, (16,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
