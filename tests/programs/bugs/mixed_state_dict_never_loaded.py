"""The mixed state dict is computed and thrown away."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
mean_teacher = copy.deepcopy(net).requires_grad_(False)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)


def blend(rate=0.05):
    mine, theirs = mean_teacher.state_dict(), net.state_dict()
    for key in mine:
        mine[key] = (1 - rate) * mine[key] + rate * theirs[key]  # BUG GS307


for _ in range(40):
    obs, reward = torch.randn(16, 4), torch.randn(16)
    wanted = reward + 0.9 * mean_teacher(torch.randn(16, 4)).amax(1)  # BUG GS307
    loss = nn.functional.huber_loss(net(obs)[:, 1], wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    blend()
