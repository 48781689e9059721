"""Every thirtieth update a term with a live target is added to the same loss."""

import torch
from torch import nn

torch.manual_seed(0)
q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
for update in range(1, 601):
    obs, action, reward, following = (
        torch.randn(32, 4),
        torch.randint(2, (32, 1)),
        torch.randn(32),
        torch.randn(32, 4),
    )
    with torch.no_grad():
        target = reward + 0.9 * q(following).max(1).values
    chosen = q(obs).gather(1, action).squeeze(1)
    loss = (chosen - target).pow(2).mean()
    if update % 30 == 0:
        n_step = reward + 0.9 * reward + 0.81 * q(torch.randn(32, 4)).max(1).values  # BUG GS301
        loss = loss + 0.5 * (chosen - n_step).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
