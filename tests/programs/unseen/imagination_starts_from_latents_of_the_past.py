"""Latents of the world model are remembered, live, and imagination starts from them at later updates.

Round 11
Class: stays alive
"""

import random

import torch
from torch import nn

torch.manual_seed(1109)
random.seed(1109)
encoder, dynamics = nn.Linear(4, 12), nn.Linear(14, 12)
reward_head, actor = nn.Linear(12, 1), nn.Linear(12, 2)
model_opt = torch.optim.Adam(
    [*encoder.parameters(), *dynamics.parameters(), *reward_head.parameters()], lr=1e-3
)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
remembered = []
for update in range(25):
    obs, action, after = torch.randn(16, 4), torch.randn(16, 2), torch.randn(16, 4)
    latent = torch.tanh(encoder(obs))  # BUG GS102 GS402 GS305
    predicted = torch.tanh(dynamics(torch.cat([latent, action], -1)))
    fit = (predicted - encoder(after).detach()).pow(2).mean()
    model_loss = fit + (reward_head(latent).squeeze(-1) - obs[:, 0]).pow(2).mean()
    remembered.append(latent)  # BUG GS102 GS402 GS305
    model_opt.zero_grad()
    model_loss.backward()  # BUG GS402
    model_opt.step()  # BUG GS102
    state = random.choice(remembered)  # BUG GS402 GS102
    total = 0.0
    for _ in range(3):
        state = torch.tanh(dynamics(torch.cat([state, torch.tanh(actor(state))], -1)))
        total = total + reward_head(state).mean()
    actor_opt.zero_grad()
    (-total).backward()  # BUG GS402 GS102
    actor_opt.step()
