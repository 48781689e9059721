"""A world model's latent is sampled, and a choice has no derivative: the encoder learns nothing. The KL that teaches
the prior detaches the posterior, and is right to."""

import torch
from torch import nn
from torch.distributions import Categorical, OneHotCategorical, kl_divergence

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(4, 16), nn.ELU(), nn.Linear(16, 6))
prior = nn.Linear(2, 6)
decoder = nn.Sequential(nn.Linear(6, 16), nn.ELU(), nn.Linear(16, 4))
parameters = [*encoder.parameters(), *prior.parameters(), *decoder.parameters()]
optimizer = torch.optim.Adam(parameters, lr=1e-3)

for _ in range(16):
    obs, action = torch.randn(32, 4), torch.randn(32, 2)
    logits = encoder(obs)
    latent = OneHotCategorical(logits=logits).sample()  # BUG GS203
    reconstruction = nn.functional.mse_loss(decoder(latent), obs)
    follow = kl_divergence(Categorical(logits=logits.detach()), Categorical(logits=prior(action))).mean()
    loss = reconstruction + 0.1 * follow
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
