"""The latent target is the encoder's own, detached; a decoder keeps it from collapsing."""

import torch
from torch import nn


class World(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 8))
        self.decode = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 6))
        self.next = nn.GRUCell(2, 8)
        self.reward = nn.Linear(8, 1)


torch.manual_seed(0)
world = World()
opt = torch.optim.Adam(world.parameters(), lr=1e-3)
for _ in range(60):
    obs, action, obs2 = torch.randn(16, 6), torch.randn(16, 2), torch.randn(16, 6)
    z = world.encode(obs)
    z2 = world.next(action, z)
    latent = (z2 - world.encode(obs2).detach()).pow(2).mean()
    picture = (world.decode(z) - obs).pow(2).mean()
    prize = (world.reward(z2).squeeze(1) - action[:, 0]).pow(2).mean()
    loss = latent + picture + prize
    opt.zero_grad()
    loss.backward()
    opt.step()
print(float(loss))
