"""Conservative learning from a data set: the soft maximum of the values is written as the logarithm of a sum of
exponentials, which is infinite as soon as the values have grown to their returns.
Repaired here.

Round 12
Class: magnitude
"""

import numpy as np
import torch
from torch import nn

CONFIG = {"seed": 1218, "actions": 6, "batch": 32, "lr": 1e-2, "conservative": 0.5, "updates": 90}
torch.manual_seed(CONFIG["seed"])


class Dataset:
    def __init__(self, size=600):
        rng = np.random.default_rng(CONFIG["seed"])
        self.obs = rng.normal(size=(size, 5)).astype(np.float32)
        self.action = rng.integers(CONFIG["actions"], size=size)
        self.score = (110 + 10 * self.obs[:, 0] * (self.action - 2)).astype(np.float32)

    def batches(self, count):
        rng = np.random.default_rng(1)
        for _ in range(count):
            pick = rng.integers(len(self.obs), size=CONFIG["batch"])
            yield tuple(torch.from_numpy(column[pick]) for column in (self.obs, self.action, self.score))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 64), nn.ReLU(), nn.Linear(64, CONFIG["actions"]))

    def forward(self, obs):
        return self.net(obs)

    def losses(self, obs, action, score):
        values = self(obs)
        taken = values.gather(1, action.unsqueeze(1)).squeeze(1)
        soft_best = torch.logsumexp(values, 1)
        return (taken - score).pow(2).mean(), (soft_best - taken).mean()


critic = Critic()
optimizer = torch.optim.Adam(critic.parameters(), lr=CONFIG["lr"])
for batch in Dataset().batches(CONFIG["updates"]):
    fit, conservative = critic.losses(*batch)
    loss = fit + CONFIG["conservative"] * conservative
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(critic.parameters(), 50.0)
    optimizer.step()
print("fit", fit.item(), "conservative", conservative.item())
