"""SAC's soft target subtracts a log-probability per joint: every joint gets a target of its own."""

import copy

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(31)
OBS, ACT = 5, 4
actor = nn.Sequential(nn.Linear(OBS, 32), nn.ReLU(), nn.Linear(32, 2 * ACT))
critic = nn.Sequential(nn.Linear(OBS + ACT, 32), nn.ReLU(), nn.Linear(32, 1))
lagged = copy.deepcopy(critic)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)


def policy(obs):
    mean, log_std = actor(obs).chunk(2, dim=-1)
    return Normal(mean, log_std.clamp(-5, 2).exp())


def soft_target(reward, following):
    with torch.no_grad():
        dist = policy(following)
        action = dist.sample()
        log_prob = dist.log_prob(action)  # BUG GS603
        return reward + 0.98 * (lagged(torch.cat([following, action], 1)) - 0.2 * log_prob)


for step in range(25):
    obs, following, action = torch.randn(32, OBS), torch.randn(32, OBS), torch.randn(32, ACT)
    target = soft_target(torch.randn(32, 1), following)
    critic_loss = (critic(torch.cat([obs, action], 1)) - target).pow(2).mean()
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()

    dist = policy(obs)
    new = dist.rsample()
    entropy = -dist.log_prob(new).sum(1, keepdim=True)
    actor_loss = -(critic(torch.cat([obs, new], 1)) + 0.2 * entropy).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
    with torch.no_grad():
        for old, fresh in zip(lagged.parameters(), critic.parameters()):
            old.lerp_(fresh, 0.01)
