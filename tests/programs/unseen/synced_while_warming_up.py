"""The target is synced every ten updates, as long as the warm-up lasts, and no more after it.

Round 11
Class: late and rare
"""

import copy

import torch
from torch import nn

torch.manual_seed(1111)
online = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
target = copy.deepcopy(online)
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
WARM_UP = 60
for update in range(500):
    obs, after = torch.randn(32, 4), torch.randn(32, 4)
    action = torch.randint(2, (32, 1))
    with torch.no_grad():
        goal = obs[:, :1] + 0.9 * target(after).amax(1, keepdim=True)  # BUG GS307
    loss = (online(obs).gather(1, action) - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update < WARM_UP and update % 10 == 9:  # BUG GS307
        target.load_state_dict(online.state_dict())  # BUG GS307
