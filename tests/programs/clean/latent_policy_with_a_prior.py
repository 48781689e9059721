"""A latent variable is drawn with gradient and scored by its own density and by a prior's: the one is to fall, the
other to rise."""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)
encoder, decoder = nn.Linear(4, 6), nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 4))
prior_mean = nn.Parameter(torch.zeros(3))
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters(), prior_mean], lr=1e-3)
for _ in range(14):
    obs = torch.randn(16, 4)
    mean, log_std = encoder(obs).chunk(2, -1)
    posterior, prior = Normal(mean, log_std.exp()), Normal(prior_mean, torch.ones(3))
    latent = posterior.rsample()
    evidence = -(decoder(latent) - obs).pow(2).sum(-1)
    bound = evidence + prior.log_prob(latent).sum(-1) - posterior.log_prob(latent).sum(-1)
    loss = -bound.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
