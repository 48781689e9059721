"""Attention pooling over the entities of an observation: the softmax runs over the batch.

Round 3
Class: axes
"""

import torch
from torch import nn

torch.manual_seed(305)


class EntityCritic(nn.Module):
    def __init__(self, dim=6, width=16):
        super().__init__()
        self.embed = nn.Linear(dim, width)
        self.score = nn.Linear(width, 4)
        self.value = nn.Linear(4 * width, 1)

    def forward(self, entities):
        hidden = torch.relu(self.embed(entities))
        weights = torch.softmax(self.score(hidden), dim=0)  # BUG GS604
        pooled = torch.einsum("bnh,bnw->bhw", weights, hidden)
        return self.value(pooled.flatten(1)).squeeze(-1)


critic = EntityCritic()
optimizer = torch.optim.Adam(critic.parameters(), lr=2e-3)
for _ in range(60):
    entities = torch.randn(24, 5, 6)
    returns = entities[..., 0].amax(1)
    loss = nn.functional.mse_loss(critic(entities), returns)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
