"""A distributional critic: rewards [B] are added to next quantiles [B, N] where B equals N by the config.

Round 3
Class: axes
"""

import copy

import torch
from torch import nn

torch.manual_seed(306)
BATCH = QUANTILES = 16


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, QUANTILES))

    def forward(self, obs):
        return self.net(obs)


critic = Critic()
target = copy.deepcopy(critic)
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
tau = (torch.arange(QUANTILES) + 0.5) / QUANTILES
for step in range(60):
    obs, next_obs = torch.randn(BATCH, 5), torch.randn(BATCH, 5)
    reward = obs.sum(-1)
    with torch.no_grad():
        goal = reward + 0.9 * target(next_obs)  # BUG GS601
    error = goal.unsqueeze(1) - critic(obs).unsqueeze(2)
    huber = torch.where(error.abs() < 1, 0.5 * error.pow(2), error.abs() - 0.5)
    loss = ((tau.view(1, -1, 1) - (error.detach() < 0).float()).abs() * huber).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        target.load_state_dict(critic.state_dict())
