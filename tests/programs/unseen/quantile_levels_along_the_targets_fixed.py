"""Quantile regression DQN lays the levels along the target's axis, so each prediction meets all of them.
Repaired here.

Class: axes
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(79)
N, ACTIONS, GAMMA = 11, 2, 0.9
LEVELS = (torch.arange(N) + 0.5) / N


class QuantileNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 48), nn.ReLU(), nn.Linear(48, ACTIONS * N))

    def forward(self, obs):
        return self.net(obs).view(-1, ACTIONS, N)


def quantile_loss(predicted, target):
    error = target.unsqueeze(1) - predicted.unsqueeze(2)
    below = (error.detach() < 0).float()
    weight = (LEVELS.view(1, N, 1) - below).abs()
    return (weight * F.huber_loss(error, torch.zeros_like(error), reduction="none")).sum(2).mean()


online = QuantileNet()
target_net = copy.deepcopy(online)
optimizer = torch.optim.Adam(online.parameters(), lr=5e-3)
rows = torch.arange(32)
for update in range(150):
    obs, next_obs = torch.randn(32, 3), torch.randn(32, 3)
    action = torch.randint(0, ACTIONS, (32,))
    reward = obs[:, 0] + torch.randn(32)
    with torch.no_grad():
        following = target_net(next_obs)
        best = following.mean(-1).argmax(1)
        target = reward.unsqueeze(1) + GAMMA * following[rows, best]
    loss = quantile_loss(online(obs)[rows, action], target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 25 == 24:
        target_net.load_state_dict(online.state_dict())
spread = online(torch.zeros(1, 3))[0, 0]
print("spread", (spread[-1] - spread[0]).item())
