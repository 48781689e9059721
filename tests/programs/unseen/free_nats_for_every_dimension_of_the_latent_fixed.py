"""A recurrent state-space model: the free nats are taken for every dimension of the latent, before the sum, and the
divergence of each lies below them, so that the prior is not trained at all.
Repaired here.

Round 12
Class: zero in part
"""

import torch
from torch import nn
from torch.distributions import Normal, kl_divergence

torch.manual_seed(1201)
LATENT, HIDDEN, OBS, ACT = 24, 32, 10, 3
FREE_NATS = 1.0


class StateSpace(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(LATENT + ACT, HIDDEN)
        self.prior = nn.Sequential(nn.Linear(HIDDEN, 32), nn.ELU(), nn.Linear(32, 2 * LATENT))
        self.posterior = nn.Sequential(nn.Linear(HIDDEN + OBS, 32), nn.ELU(), nn.Linear(32, 2 * LATENT))
        self.decoder = nn.Linear(HIDDEN + LATENT, OBS)

    @staticmethod
    def gaussian(numbers):
        mean, spread = numbers.chunk(2, -1)
        return Normal(mean, nn.functional.softplus(spread) + 0.1)

    def observe(self, obs, action):
        hidden = obs.new_zeros(obs.shape[1], HIDDEN)
        latent = obs.new_zeros(obs.shape[1], LATENT)
        for now, before in zip(obs, action):
            hidden = self.cell(torch.cat([latent, before], -1), hidden)
            prior = self.gaussian(self.prior(hidden))
            posterior = self.gaussian(self.posterior(torch.cat([hidden, now], -1)))
            latent = posterior.rsample()
            yield prior, posterior, self.decoder(torch.cat([hidden, latent], -1))


def sequences(steps=6, batch=16):
    action = torch.rand(steps, batch, ACT) * 2 - 1
    obs = torch.randn(1, batch, OBS) + 0.3 * action.cumsum(0).repeat(1, 1, 4)[..., :OBS]
    return obs, action


def complexity(posterior, prior):
    divergence = kl_divergence(posterior, prior)
    return divergence.sum(-1).clamp(min=FREE_NATS).mean()


model = StateSpace()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for update in range(45):
    obs, action = sequences()
    loss = torch.zeros(())
    for seen, (prior, posterior, decoded) in zip(obs, model.observe(obs, action)):
        loss = loss + (decoded - seen).pow(2).sum(-1).mean() + 0.5 * complexity(posterior, prior)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 100.0)
    optimizer.step()
print("loss", loss.item())
