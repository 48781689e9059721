"""A hand-made Huber loss puts a constant where the linear tail should be: large errors have no gradient.

Class: zero in part
"""

import copy

import torch
from torch import nn

torch.manual_seed(51)


def huber(error, kappa=1.0):
    size = error.abs()
    quadratic = 0.5 * error.pow(2)
    linear = torch.full_like(size, kappa * (kappa - 0.5 * kappa))  # BUG GS208
    return torch.where(size <= kappa, quadratic, linear).mean()  # BUG GS208


class QNet(nn.Module):
    def __init__(self, obs_dim=4, actions=3):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(obs_dim, 32), nn.ReLU(), nn.Linear(32, actions))

    def forward(self, obs):
        return self.layers(obs)


online = QNet()
target = copy.deepcopy(online)
optimizer = torch.optim.Adam(online.parameters(), lr=1e-2)
for update in range(200):
    obs, next_obs = torch.randn(32, 4), torch.randn(32, 4)
    action = torch.randint(0, 3, (32,))
    reward = 20.0 + 3.0 * obs[:, 0]
    with torch.no_grad():
        goal = reward + 0.5 * target(next_obs).max(1).values
    chosen = online(obs).gather(1, action.unsqueeze(1)).squeeze(1)
    loss = huber(chosen - goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 20 == 0:
        target.load_state_dict(online.state_dict())
print("q", chosen.mean().item())
