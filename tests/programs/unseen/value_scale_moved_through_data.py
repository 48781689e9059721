"""PopArt: the scale of the values is updated through `.data` after the forward that multiplied with it.

Round 8
Class: hidden writes
"""

import torch
from torch import nn

torch.manual_seed(815)


class ScaledCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
        self.register_buffer("mu", torch.zeros(1))
        self.register_buffer("sigma", torch.ones(1))

    def forward(self, obs):
        return (self.net(obs) * self.sigma + self.mu).squeeze(-1)

    def update_stats(self, returns, rate=0.1):
        self.mu.data.lerp_(returns.mean(), rate)
        self.sigma.data.lerp_(returns.std(), rate)  # BUG GS104


critic = ScaledCritic()
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for update in range(60):
    obs = torch.randn(64, 4)
    returns = 20 * obs[:, 0] + 5
    value = critic(obs)
    critic.update_stats(returns)  # BUG GS104
    loss = (value - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
