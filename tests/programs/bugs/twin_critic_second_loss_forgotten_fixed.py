"""TD3's critic has two heads; only the first one is in the loss."""

import copy

import torch
from torch import nn

torch.manual_seed(0)


class TwinCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
        self.second = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, obs, action):
        x = torch.cat([obs, action], -1)
        return self.first(x).squeeze(-1), self.second(x).squeeze(-1)


critic = TwinCritic()
target = copy.deepcopy(critic)
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(25):
    obs, action, reward = torch.randn(16, 4), torch.randn(16, 1), torch.randn(16)
    with torch.no_grad():
        wanted = reward + 0.99 * torch.min(*target(torch.randn(16, 4), torch.randn(16, 1)))
    one, two = critic(obs, action)
    loss = nn.functional.mse_loss(one, wanted) + nn.functional.mse_loss(two, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for old, new in zip(target.parameters(), critic.parameters()):
            old.mul_(0.995).add_(0.005 * new)
