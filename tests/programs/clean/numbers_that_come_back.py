"""Numbers taken out of tensors scale, centre and weigh what is trained: constants, and meant to be."""

import copy

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
target = copy.deepcopy(critic).requires_grad_(False)
log_alpha = nn.Parameter(torch.tensor(-0.7))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
alpha_optimizer = torch.optim.Adam([log_alpha], lr=1e-3)
baseline = 0.0

for _ in range(40):
    obs, action, reward, following = (
        torch.randn(32, 3),
        torch.rand(32, 1),
        torch.randn(32, 1),
        torch.randn(32, 3),
    )
    alpha = log_alpha.exp().item()
    with torch.no_grad():
        onward = target(torch.cat([following, actor(following)], -1))
        wanted = reward + 0.99 * onward - alpha * 0.1
    value = critic(torch.cat([obs, action], -1))
    deviation = np.float32(wanted.std().numpy())
    critic_loss = ((value - wanted) / deviation).pow(2).mean() / value.abs().mean().item()
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    chosen = actor(obs)
    q = critic(torch.cat([obs, chosen], -1))
    baseline = q.mean().item()
    behaviour = (chosen - action).pow(2).mean()
    actor_loss = -(q - baseline).mean() / q.abs().mean().item() + alpha * behaviour * (1 + behaviour.item())
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()

    alpha_loss = -log_alpha * (behaviour.item() - 0.5)
    alpha_optimizer.zero_grad()
    alpha_loss.backward()
    alpha_optimizer.step()
    for old, new in zip(target.parameters(), critic.parameters(), strict=True):
        old.data.lerp_(new.data, 0.01)
