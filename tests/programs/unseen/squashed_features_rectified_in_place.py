"""The torso squashes its features and rectifies them in place: the squashing needs what was overwritten.

Round 6
Class: forward errors
"""

import torch
from torch import nn

torch.manual_seed(601)


class Torso(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(6, 32)
        self.rectify = nn.ReLU(inplace=True)  # BUG GS101
        self.value = nn.Linear(32, 1)

    def forward(self, obs):
        features = torch.tanh(self.inner(obs))
        return self.value(self.rectify(features)).squeeze(-1)  # BUG GS101


critic = Torso()
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(20):
    obs = torch.randn(16, 6)
    loss = (critic(obs) - obs.mean(1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
