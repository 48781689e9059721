"""Dreamer's critic regresses onto λ-returns that are made of its own live values."""

import torch
from torch import nn

torch.manual_seed(0)
HORIZON, BATCH, LATENT = 6, 16, 8


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(LATENT, 32), nn.ELU(), nn.Linear(32, 1))

    def forward(self, latent):
        return self.net(latent).squeeze(-1)


def lambda_returns(rewards, values, discount=0.97, lam=0.95):
    last, out = values[-1], []
    for t in reversed(range(len(rewards))):
        last = rewards[t] + discount * ((1 - lam) * values[t + 1] + lam * last)
        out.append(last)
    return torch.stack(out[::-1])


critic = Critic()
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(10):
    imagined, rewards = torch.randn(HORIZON + 1, BATCH, LATENT), torch.randn(HORIZON, BATCH)
    values = critic(imagined)
    returns = lambda_returns(rewards, values.detach())
    loss = 0.5 * (values[:-1] - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
