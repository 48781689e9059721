"""GAIL: discriminator with a gradient penalty (create_graph), policy on the discriminator's reward."""

import torch
from torch import nn

torch.manual_seed(0)
disc = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 1))
policy = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))
disc_optimizer = torch.optim.Adam(disc.parameters(), lr=1e-3)
policy_optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()


def penalty(expert, fake):
    mix = torch.rand(len(expert), 1)
    x = (mix * expert + (1 - mix) * fake).requires_grad_(True)
    (gradient,) = torch.autograd.grad(disc(x).sum(), x, create_graph=True)
    return (gradient.norm(2, dim=1) - 1).pow(2).mean()


for _ in range(10):
    obs = torch.randn(16, 3)
    dist = torch.distributions.Categorical(logits=policy(obs))
    action = dist.sample()
    fake = torch.cat([obs, nn.functional.one_hot(action, 2).float()], 1)
    expert = torch.cat([torch.randn(16, 3), nn.functional.one_hot(torch.randint(2, (16,)), 2).float()], 1)
    disc_loss = bce(disc(expert), torch.ones(16, 1)) + bce(disc(fake), torch.zeros(16, 1))
    disc_loss = disc_loss + 10 * penalty(expert, fake)
    disc_optimizer.zero_grad()
    disc_loss.backward()
    disc_optimizer.step()
    with torch.no_grad():
        reward = nn.functional.softplus(disc(fake)).squeeze(-1)
    policy_loss = -(dist.log_prob(action) * (reward - reward.mean())).mean()
    policy_optimizer.zero_grad()
    policy_loss.backward()
    policy_optimizer.step()
