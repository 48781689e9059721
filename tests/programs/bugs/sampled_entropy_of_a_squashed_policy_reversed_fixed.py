"""A soft actor: the log-probability of its own sample is subtracted, so that the policy narrows."""

import copy

import torch
from torch import nn
from torch.distributions import Independent, Normal, TanhTransform, TransformedDistribution

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 4))
q = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
target_q = copy.deepcopy(q)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
q_optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
alpha = 0.2


def policy(obs):
    mean, log_std = actor(obs).chunk(2, -1)
    base = Independent(Normal(mean, log_std.clamp(-4, 1).exp()), 1)
    return TransformedDistribution(base, [TanhTransform(cache_size=1)])


for _ in range(16):
    obs, action, after = torch.randn(16, 3), torch.rand(16, 2) * 2 - 1, torch.randn(16, 3)
    with torch.no_grad():
        dist = policy(after)
        following = dist.sample()
        soft = target_q(torch.cat([after, following], -1)).squeeze(-1) - alpha * dist.log_prob(following)
        target = torch.randn(16) + 0.98 * soft
    q_loss = (q(torch.cat([obs, action], -1)).squeeze(-1) - target).pow(2).mean()
    q_optimizer.zero_grad()
    q_loss.backward()
    q_optimizer.step()

    dist = policy(obs)
    new = dist.rsample()
    actor_loss = (alpha * dist.log_prob(new) - q(torch.cat([obs, new], -1)).squeeze(-1)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    with torch.no_grad():
        for p, t in zip(q.parameters(), target_q.parameters()):
            t.lerp_(p, 0.005)
