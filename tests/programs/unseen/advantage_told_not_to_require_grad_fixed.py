"""The advantage is to be a constant, and is told so with requires_grad_(False), which a result cannot be.
Repaired here.

Round 2
Class: forward errors
"""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(202)
actor = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
params = list(actor.parameters()) + list(critic.parameters())
optimizer = torch.optim.Adam(params, lr=1e-3)


def losses(obs, action, reward, next_obs, gamma=0.95):
    dist = Normal(actor(obs).squeeze(-1), 0.5)
    value = critic(obs).squeeze(-1)
    with torch.no_grad():
        target = reward + gamma * critic(next_obs).squeeze(-1)
    advantage = target - value
    value_loss = (target - value).pow(2).mean()
    policy_loss = -(dist.log_prob(action) * advantage.detach()).mean()
    return policy_loss, value_loss


for _ in range(40):
    obs = torch.randn(64, 3)
    with torch.no_grad():
        action = Normal(actor(obs).squeeze(-1), 0.5).sample()
    reward = -(action - obs[:, 0]).pow(2)
    policy_loss, value_loss = losses(obs, action, reward, torch.randn(64, 3))
    optimizer.zero_grad()
    (policy_loss + 0.5 * value_loss).backward()
    optimizer.step()
