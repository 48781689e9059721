"""DQN forgets to take the value of the action that was chosen: the target is fitted by all actions."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(32)
q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
lagged = copy.deepcopy(q)
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)


def update(obs, action, reward, following, done):
    with torch.no_grad():
        best = lagged(following).max(dim=1, keepdim=True).values
        target = reward + 0.99 * (1 - done) * best
    loss = F.smooth_l1_loss(q(obs), target)  # BUG GS601
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


for step in range(30):
    action = torch.randint(0, 3, (16, 1))
    done = (torch.rand(16, 1) < 0.1).float()
    update(torch.randn(16, 4), action, torch.randn(16, 1), torch.randn(16, 4), done)
    if step % 10 == 9:
        lagged.load_state_dict(q.state_dict())
