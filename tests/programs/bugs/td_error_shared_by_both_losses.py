"""One-step actor-critic: the TD error is the critic's loss and, live, the actor's weight."""

import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)
obs = torch.randn(3)
for _ in range(15):
    dist = torch.distributions.Categorical(logits=actor(obs))
    action = dist.sample()
    next_obs, reward = 0.9 * obs + 0.1 * torch.randn(3), 1.0 - float(action)
    with torch.no_grad():
        after = critic(next_obs)
    delta = reward + 0.99 * after - critic(obs)  # BUG GS303
    loss = delta.pow(2) - dist.log_prob(action) * delta  # BUG GS303
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    obs = next_obs
