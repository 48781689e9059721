"""A soft target: the entropy of the next action is a constant, the value beside it is not."""

import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
policy = nn.Linear(3, 1)
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)

for _ in range(12):
    obs, action, reward, following = (
        torch.randn(32, 3),
        torch.randn(32, 1),
        torch.randn(32, 1),
        torch.randn(32, 3),
    )
    with torch.no_grad():
        dist = torch.distributions.Normal(policy(following), 0.3)
        chosen = dist.sample()
        log_prob = dist.log_prob(chosen)
    onward = critic(torch.cat([following, chosen], 1)) - 0.05 * log_prob  # BUG GS301
    target = reward + 0.9 * onward  # BUG GS301
    loss = nn.functional.mse_loss(critic(torch.cat([obs, action], 1)), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
