"""The sync assigns a fresh copy to a local name: the target of the module stays what it was.

Round 5
Class: late and rare
"""

import copy

import torch
from torch import nn

torch.manual_seed(512)

online = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
target = copy.deepcopy(online)
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)


def sync():
    target = copy.deepcopy(online)  # BUG GS307
    for p in target.parameters():
        p.requires_grad_(False)


for update in range(400):
    obs, after = torch.randn(32, 4), torch.randn(32, 4)
    action = torch.randint(3, (32, 1))
    with torch.no_grad():
        goal = obs[:, :1] + 0.9 * target(after).amax(1, keepdim=True)  # BUG GS307
    loss = (online(obs).gather(1, action) - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 20 == 19:
        sync()
