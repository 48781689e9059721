"""The sync hangs on a counter that stops with the warm-up: after it the target stays as it is."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target = copy.deepcopy(q)
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
for update in range(1, 701):
    obs, action, reward, following = (
        torch.randn(32, 4),
        torch.randint(2, (32, 1)),
        torch.randn(32),
        torch.randn(32, 4),
    )
    with torch.no_grad():
        goal = reward + 0.9 * target(following).max(1).values  # BUG GS307
    loss = (q(obs).gather(1, action).squeeze(1) - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update <= 100 and update % 20 == 0:
        target.load_state_dict(q.state_dict())  # BUG GS307
