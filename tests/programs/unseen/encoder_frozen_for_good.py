"""The encoder is frozen while the new critic warms up; the line that thaws it is given the wrong flag.

Round 2
Class: late and rare
"""

import torch
from torch import nn

torch.manual_seed(224)
encoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
critic = nn.Linear(32, 1)
optimizer = torch.optim.Adam([*encoder.parameters(), *critic.parameters()], lr=1e-3)


def set_trainable(module, flag):
    for p in module.parameters():
        p.requires_grad_(flag)


def fit(updates):
    for _ in range(updates):
        obs = torch.randn(64, 8)
        loss = (critic(encoder(obs)).squeeze(-1) - obs.prod(-1)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


fit(60)
set_trainable(encoder, False)
nn.init.zeros_(critic.weight)
fit(20)
set_trainable(encoder, False)  # BUG GS207
fit(80)
