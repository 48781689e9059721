"""An evaluation under inference mode refreshes the statistics that a later training forward divides by.
Repaired here.

Class: forward errors
"""

import torch
from torch import nn

torch.manual_seed(2)


class LatentScaler:
    """Keeps the mean and spread of the latents it was shown."""

    def __init__(self, width):
        self.mean, self.std = torch.zeros(width), torch.ones(width)

    def refresh(self, latent):
        self.mean, self.std = latent.mean(0), latent.std(0) + 0.1

    def __call__(self, latent):
        return (latent - self.mean) / self.std


class Agent:
    def __init__(self):
        self.encoder = nn.Sequential(nn.Linear(6, 32), nn.ELU())
        self.value = nn.Linear(32, 1)
        self.scaler = LatentScaler(32)
        parameters = [*self.encoder.parameters(), *self.value.parameters()]
        self.optimizer = torch.optim.Adam(parameters, lr=2e-3)

    def train_on(self, obs, returns):
        value = self.value(self.scaler(self.encoder(obs))).squeeze(-1)
        loss = (value - returns).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def evaluate(self, obs, returns):
        latent = self.encoder(obs)
        self.scaler.refresh(latent)
        return (self.value(self.scaler(latent)).squeeze(-1) - returns).abs().mean().item()


weight = torch.randn(6)
agent = Agent()
for update in range(150):
    obs = torch.randn(32, 6)
    agent.train_on(obs, obs @ weight)
    if update % 50 == 49:
        print("error", agent.evaluate(obs, obs @ weight))
