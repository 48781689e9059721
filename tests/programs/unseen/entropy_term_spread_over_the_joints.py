"""SAC's actor loss adds a log-probability per action dimension to a single column of values.

Class: axes
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal

torch.manual_seed(73)
OBS, ACT, ALPHA = 4, 3, 0.1

actor = nn.Sequential(nn.Linear(OBS, 32), nn.ReLU(), nn.Linear(32, 2 * ACT))
critic = nn.Sequential(nn.Linear(OBS + ACT, 32), nn.ReLU(), nn.Linear(32, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=3e-3)


def act(obs):
    mean, log_std = actor(obs).split(ACT, dim=-1)
    dist = Normal(mean, log_std.clamp(-4, 1).exp())
    raw = dist.rsample()
    log_prob = dist.log_prob(raw) - 2 * (0.6931 - raw - F.softplus(-2 * raw))
    return torch.tanh(raw), log_prob  # BUG GS603 GS601


for step in range(120):
    obs = torch.randn(64, OBS)
    with torch.no_grad():
        action, _ = act(obs)
    reward = -(action - obs[:, :ACT].clamp(-0.8, 0.8)).pow(2).sum(-1, keepdim=True)
    critic_loss = F.mse_loss(critic(torch.cat([obs, action], -1)), reward)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()

    action, log_prob = act(obs)
    value = critic(torch.cat([obs, action], -1))
    actor_loss = (ALPHA * log_prob - value).mean()  # BUG GS603 GS601
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
print("reward", reward.mean().item())
