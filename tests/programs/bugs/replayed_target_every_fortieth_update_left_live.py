"""Every fortieth update the critic learns from old data as well, and there the target carries gradient."""

import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for update in range(1, 501):
    obs, following, reward = torch.randn(32, 4), torch.randn(32, 4), torch.randn(32, 1)
    with torch.no_grad():
        target = reward + 0.9 * critic(following)
    loss = (critic(obs) - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 40 == 0:
        old, later, gain = torch.randn(64, 4), torch.randn(64, 4), torch.randn(64, 1)
        goal = gain + 0.9 * critic(later)  # BUG GS301
        optimizer.zero_grad()
        nn.functional.mse_loss(critic(old), goal).backward()
        optimizer.step()
