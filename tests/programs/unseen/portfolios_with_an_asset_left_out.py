"""Offline learning of portfolios with a Dirichlet policy: where a recorded portfolio holds nothing of an asset, the
density of that zero has no finite slope, and one such row is enough.

Round 16
Class: magnitude
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Dirichlet

torch.manual_seed(1610)
rng = np.random.default_rng(1610)
ASSETS, WINDOW, ROWS = 4, 6, 400


def record():
    """Prices of the last days, the portfolio somebody held, and what the next day brought."""
    drift = rng.normal(0, 0.02, (ROWS, 1, ASSETS))
    days = drift + rng.normal(0, 0.03, (ROWS, WINDOW + 1, ASSETS))
    held = np.exp(20 * days[:, :-1].mean(1) + rng.normal(0, 0.7, (ROWS, ASSETS)))
    held[rng.random(ROWS) < 0.02, 0] = 0.0
    held = held / held.sum(1, keepdims=True)
    gain = (held * days[:, -1]).sum(1)
    return [
        torch.from_numpy(x.astype(np.float32)) for x in (days[:, :-1].reshape(ROWS, -1) * 20, held, gain * 20)
    ]


class Allocation(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(WINDOW * ASSETS, 32), nn.Tanh())
        self.concentration, self.value = nn.Linear(32, ASSETS), nn.Linear(32, 1)

    def forward(self, history):
        x = self.body(history)
        return Dirichlet(F.softplus(self.concentration(x)) + 0.5), self.value(x).squeeze(-1)


def losses(model, history, held, gain, temperature=0.5):
    dist, value = model(history)
    advantage = (gain - value).detach()
    weight = (advantage / temperature).exp().clamp(max=10.0)
    density = dist.log_prob(held)  # BUG GS503
    return -(weight * density).mean(), F.mse_loss(value, gain), dist.entropy().mean()


def fit(model, data, epochs=4, size=25):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(ROWS).split(size):
            policy_loss, value_loss, entropy = losses(model, *(column[rows] for column in data))
            loss = policy_loss + 0.5 * value_loss - 1e-3 * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total * size / ROWS:.3f}")


fit(Allocation(), record())
