"""Layers whose weights are computed from others: spectral norm in both its forms, weight norm, an orthogonal and a
symmetric matrix, cached for two passes."""

import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize

torch.manual_seed(0)


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).T


critic = nn.Sequential(
    parametrizations.spectral_norm(nn.Linear(4, 16)),
    nn.ReLU(),
    parametrizations.weight_norm(nn.Linear(16, 16)),
    nn.Tanh(),
    parametrizations.orthogonal(nn.Linear(16, 16)),
    nn.Linear(16, 1),
)
mixer, old = nn.Linear(4, 4), nn.utils.spectral_norm(nn.Linear(4, 4))
parametrize.register_parametrization(mixer, "weight", Symmetric())
optimizer = torch.optim.Adam([*critic.parameters(), *mixer.parameters(), *old.parameters()], lr=1e-3)
for _ in range(16):
    state, following, reward = torch.randn(16, 4), torch.randn(16, 4), torch.randn(16, 1)
    with parametrize.cached():
        value = critic(old(mixer(state)))
        with torch.no_grad():
            goal = reward + 0.9 * critic(old(mixer(following)))
        loss = (value - goal).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
    optimizer.step()
