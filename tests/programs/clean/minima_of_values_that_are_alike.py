"""Minima and maxima of values that look alike and are right: one critic by configuration, a critic with dropout asked
twice, a value and its clipped self, the same network at two states, bounds that are constants."""

import copy

import torch
from torch import nn

torch.manual_seed(0)


def critic(dropout=0.0):
    return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Dropout(dropout), nn.Linear(32, 1))


def learn(critics, smaller, value=None, steps=8):
    """`smaller`: what the target takes of the critics."""
    opt = torch.optim.Adam(nn.ModuleList(critics).parameters(), lr=1e-3)
    for _ in range(steps):
        obs, following, reward = torch.randn(16, 4), torch.randn(16, 4), torch.randn(16, 1)
        with torch.no_grad():
            target = reward + 0.9 * smaller(following)
        loss = sum((c(obs) - target).pow(2).mean() for c in critics)
        opt.zero_grad()
        loss.backward()
        opt.step()


single = critic()
pair = [single, single]  # twin critics are switched off
learn([single], lambda obs: torch.min(pair[0](obs), pair[1](obs)))

drops = critic(0.2)
learn([drops, critic(0.2)], lambda obs: torch.min(drops(obs), drops(obs)))

one, other = critic(), critic()
slow = copy.deepcopy(one)
learn([one, other], lambda obs: torch.min(one(obs), other(obs)))
learn([one, other], lambda obs: torch.max(slow(obs), slow(obs + 0.1)))
learn([one, other], lambda obs: torch.min(one(obs), one(obs).clamp(-1.0, 1.0)))
learn([one, other], lambda obs: torch.max(other(obs), torch.zeros(16, 1)))
