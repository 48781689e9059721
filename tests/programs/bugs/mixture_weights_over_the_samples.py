"""A world model's mixture: the weights of the five parts are normalised over the samples of the batch."""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(20)
PARTS, LATENT = 5, 3
memory = nn.GRU(LATENT + 2, 32, batch_first=True)
head = nn.Linear(32, PARTS * (2 * LATENT + 1))
opt = torch.optim.Adam([*memory.parameters(), *head.parameters()], lr=1e-3)


def mixture(latents, actions):
    hidden, _ = memory(torch.cat([latents, actions], -1))
    out = head(hidden.reshape(-1, 32))
    mean, log_std, weights = out.split([PARTS * LATENT, PARTS * LATENT, PARTS], dim=-1)
    shape = (-1, PARTS, LATENT)
    log_weights = torch.log_softmax(weights, dim=-2)  # BUG GS604
    return mean.view(shape), log_std.view(shape).clamp(-4, 2).exp(), log_weights


for step in range(25):
    latents, actions = torch.randn(8, 10, LATENT).cumsum(1) * 0.3, torch.randn(8, 10, 2)
    mean, std, log_weights = mixture(latents[:, :-1], actions[:, :-1])
    following = latents[:, 1:].reshape(-1, 1, LATENT)
    parts = Normal(mean, std).log_prob(following).sum(-1) + log_weights
    loss = -torch.logsumexp(parts, dim=-1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
