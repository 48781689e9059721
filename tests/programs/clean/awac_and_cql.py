"""AWAC: advantage weights under no_grad; CQL's logsumexp regulariser on the critic."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 4))
critics = nn.ModuleList(nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1)) for _ in range(2))
targets = copy.deepcopy(critics)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critics.parameters(), lr=1e-3)


def dist(obs):
    mean, log_std = actor(obs).chunk(2, -1)
    return torch.distributions.Independent(torch.distributions.Normal(mean, log_std.clamp(-4, 1).exp()), 1)


def q(nets, obs, action):
    return torch.stack([net(torch.cat([obs, action], -1)).squeeze(-1) for net in nets])


for _ in range(10):
    obs, action, reward, after = torch.randn(16, 4), torch.randn(16, 2), torch.randn(16), torch.randn(16, 4)
    with torch.no_grad():
        wanted = reward + 0.99 * q(targets, after, dist(after).sample()).amin(0)
        random = torch.rand(5, 16, 2) * 2 - 1
    now = q(critics, obs, action)
    others = torch.stack([q(critics, obs, a) for a in random])
    conservative = (torch.logsumexp(others, 0) - now).mean()
    critic_loss = (now - wanted).pow(2).mean() + 0.5 * conservative
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    d = dist(obs)
    with torch.no_grad():
        baseline = q(critics, obs, d.sample()).amin(0)
        weight = ((q(critics, obs, action).amin(0) - baseline) / 0.5).exp().clamp(max=20)
    actor_optimizer.zero_grad()
    (-(d.log_prob(action) * weight).mean()).backward()
    actor_optimizer.step()
    with torch.no_grad():
        for old, new in zip(targets.parameters(), critics.parameters()):
            old.copy_(torch.lerp(old, new, 0.01))
