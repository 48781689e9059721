"""A protagonist and an adversary with opposite losses on one shared game."""

import torch
from torch import nn

torch.manual_seed(0)
hero = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
foe = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
hero_optimizer = torch.optim.Adam(hero.parameters(), lr=1e-3)
foe_optimizer = torch.optim.Adam(foe.parameters(), lr=1e-3)
payoff = torch.tensor([[1.0, -1.0], [-1.0, 1.0]])
for _ in range(12):
    obs = torch.randn(16, 3)
    h, f = hero(obs).softmax(-1), foe(obs).softmax(-1)
    value = torch.einsum("bi,ij,bj->b", h, payoff, f.detach()).mean()
    hero_optimizer.zero_grad()
    (-value).backward()
    hero_optimizer.step()
    value = torch.einsum("bi,ij,bj->b", hero(obs).softmax(-1).detach(), payoff, f).mean()
    foe_optimizer.zero_grad()
    value.backward()
    foe_optimizer.step()
