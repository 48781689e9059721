"""A latent is discretised by a function of its own that was to pass the gradient straight through, and gives back zeros.

Round 11
Class: custom functions
"""

import torch
from torch import nn

torch.manual_seed(1116)


class Discretise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad):  # BUG GS211 GS208
        return torch.zeros_like(grad)  # BUG GS211 GS208


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 8))
        self.decode = nn.Linear(8, 6)

    def forward(self, obs):
        return self.decode(Discretise.apply(2 * self.encode(obs)))  # BUG GS211 GS208


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for update in range(80):
    obs = torch.randn(32, 6)
    loss = (model(obs) - obs).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
