"""PopArt: statistics in buffers, the head's weights rescaled under no_grad after the step."""

import torch
from torch import nn

torch.manual_seed(0)


class PopArt(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.head = nn.Linear(size, 1)
        for name, value in (("mu", 0.0), ("nu", 1.0), ("sigma", 1.0)):
            self.register_buffer(name, torch.tensor(value))

    def forward(self, x):
        normalised = self.head(x).squeeze(-1)
        return normalised, (normalised * self.sigma + self.mu).detach()

    @torch.no_grad()
    def update(self, targets, rate=0.1):
        mu, sigma = self.mu.clone(), self.sigma.clone()
        self.mu.lerp_(targets.mean(), rate)
        self.nu.lerp_(targets.pow(2).mean(), rate)
        self.sigma.copy_((self.nu - self.mu.pow(2)).clamp(min=1e-4).sqrt())
        self.head.weight.mul_(sigma / self.sigma)
        self.head.bias.mul_(sigma).add_(mu - self.mu).div_(self.sigma)


trunk, art = nn.Sequential(nn.Linear(4, 16), nn.Tanh()), PopArt(16)
optimizer = torch.optim.Adam([*trunk.parameters(), *art.parameters()], lr=1e-3)
for _ in range(14):
    obs, after, reward = torch.randn(32, 4), torch.randn(32, 4), 5 * torch.randn(32)
    with torch.no_grad():
        wanted = reward + 0.9 * art(trunk(after))[1]
    art.update(wanted)
    predicted, _ = art(trunk(obs))
    loss = (predicted - (wanted - art.mu) / art.sigma).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
