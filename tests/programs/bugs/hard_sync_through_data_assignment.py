"""The periodic sync assigns .data, so from the first sync on both networks are one."""

import torch
from torch import nn

torch.manual_seed(0)
online = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
lagged = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(online.parameters(), lr=1e-2, foreach=True)


def hard_update(destination, source):
    for old, new in zip(destination.parameters(), source.parameters()):
        old.data = new.data  # BUG GS306


for step in range(30):
    if step % 6 == 3:
        hard_update(lagged, online)
    obs, reward = torch.randn(16, 4), torch.randn(16)
    with torch.no_grad():
        wanted = reward + 0.9 * lagged(torch.randn(16, 4)).max(1)[0]
    loss = nn.functional.mse_loss(online(obs)[:, 0], wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
