"""A latent dynamics model: encoder, dynamics and reward head; the latent target is an EMA copy's."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(6, 32), nn.ELU(), nn.Linear(32, 8))
dynamics = nn.Sequential(nn.Linear(10, 32), nn.ELU(), nn.Linear(32, 8))
reward = nn.Linear(8, 1)
encoder_target = copy.deepcopy(encoder).requires_grad_(False)
opt = torch.optim.Adam([*encoder.parameters(), *dynamics.parameters(), *reward.parameters()], lr=1e-3)
for _ in range(60):
    obs, actions = torch.randn(5, 16, 6), torch.randn(4, 16, 2)
    rewards = obs[1:, :, 0] * actions[:, :, 0]
    z = encoder(obs[0])
    consistency, reward_loss = 0.0, 0.0
    for t in range(4):
        z = dynamics(torch.cat([z, actions[t]], 1))
        with torch.no_grad():
            z_target = encoder_target(obs[t + 1])
        consistency = consistency + 0.5**t * (z - z_target).pow(2).mean()
        reward_loss = reward_loss + 0.5**t * (reward(z).squeeze(1) - rewards[t]).pow(2).mean()
    loss = consistency + reward_loss
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_([*encoder.parameters(), *dynamics.parameters(), *reward.parameters()], 10.0)
    opt.step()
    with torch.no_grad():
        for p, q in zip(encoder.parameters(), encoder_target.parameters()):
            q.lerp_(p, 0.01)
print(float(loss))
