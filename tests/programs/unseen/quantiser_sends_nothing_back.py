"""A world model with binary latents: the quantiser's own backward was forgotten and returns None.

Round 4
Class: custom functions
"""

import torch
from torch import nn

torch.manual_seed(421)


class Binarise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (x > 0).float()

    @staticmethod
    def backward(ctx, grad):
        return None  # BUG GS211


class WorldModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(8, 12)
        self.dynamics = nn.Sequential(nn.Linear(14, 32), nn.ELU(), nn.Linear(32, 12))
        self.decode = nn.Linear(12, 8)

    def forward(self, obs, action):
        code = Binarise.apply(self.encode(obs))
        return self.decode(code), self.decode(self.dynamics(torch.cat([code, action], 1)))


model = WorldModel()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for update in range(40):
    obs, action = torch.randn(32, 8), torch.randn(32, 2)
    after = obs.roll(1, 1) + 0.1 * action.sum(1, keepdim=True)
    now, then = model(obs, action)
    loss = (now - obs).pow(2).mean() + (then - after).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
