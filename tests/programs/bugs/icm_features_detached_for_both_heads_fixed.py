"""Curiosity: the features are detached once for the forward model, and the inverse model uses the same."""

import torch
from torch import nn

torch.manual_seed(0)


class Curiosity(nn.Module):
    def __init__(self):
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(5, 16), nn.ELU(), nn.Linear(16, 8))
        self.inverse = nn.Linear(16, 3)
        self.dynamics = nn.Linear(11, 8)

    def loss(self, obs, action, next_obs):
        now, after = self.phi(obs), self.phi(next_obs)
        guess = self.inverse(torch.cat([now, after], -1))
        now, after = now.detach(), after.detach()
        one_hot = nn.functional.one_hot(action, 3).float()
        predicted = self.dynamics(torch.cat([now, one_hot], -1))
        surprise = (predicted - after).pow(2).mean()
        return 0.2 * surprise + 0.8 * nn.functional.cross_entropy(guess, action)


module = Curiosity()
optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
for _ in range(10):
    loss = module.loss(torch.randn(16, 5), torch.randint(3, (16,)), torch.randn(16, 5))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
