"""A world model with a reward head of one unit, compared with flat rewards by the library's loss.
Repaired here.

Round 9
Class: axes
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(908)


class WorldModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 48), nn.SiLU())
        self.next, self.reward = nn.Linear(48, 6), nn.Linear(48, 1)

    def forward(self, obs, action):
        hidden = self.trunk(torch.cat([obs, action], -1))
        return obs + self.next(hidden), self.reward(hidden)


model = WorldModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for update in range(60):
    obs, action = torch.randn(64, 6), torch.randn(64, 2)
    after = obs + 0.1 * F.pad(action, (0, 4))
    reward = obs[:, 0] - action.pow(2).sum(-1)
    predicted, predicted_reward = model(obs, action)
    loss = F.mse_loss(predicted, after) + F.smooth_l1_loss(predicted_reward.squeeze(-1), reward)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
