"""A network that grows a column for every new task keeps the optimizer made for the first column.

Class: late and rare
"""

import torch
from torch import nn

torch.manual_seed(167)


class Progressive(nn.Module):
    def __init__(self, obs_dim=4):
        super().__init__()
        self.obs_dim = obs_dim
        self.trunk = nn.Sequential(nn.Linear(obs_dim, 32), nn.ReLU())
        self.columns = nn.ModuleList([nn.Linear(32, 1)])

    def grow(self):
        self.columns.append(nn.Linear(32, 1))

    def forward(self, obs):
        return self.columns[-1](self.trunk(obs)).squeeze(-1)


class Curriculum:
    def __init__(self):
        self.net = Progressive()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=3e-3)
        self.goal = torch.randn(4)

    def next_task(self):
        self.goal = torch.randn(4)
        self.net.grow()  # BUG GS205 GS206

    def update(self):
        obs = torch.randn(32, 4)
        loss = (self.net(obs) - torch.tanh(obs @ self.goal)).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


curriculum = Curriculum()
for update in range(240):
    if update == 160:
        curriculum.next_task()
    loss = curriculum.update()
print("loss", loss)
