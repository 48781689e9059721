"""One-step actor-critic, step by step: the temporal difference weighs the log-probability as it is, live.

Round 11
Class: weights
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1112)
actor = nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 2))
critic = nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)
obs = torch.randn(3)
for step in range(200):
    dist = Categorical(logits=actor(obs))
    action = dist.sample()
    after = 0.8 * obs + 0.3 * torch.randn(3) + 0.1 * (2 * action - 1)
    reward = -after.pow(2).sum()
    delta = reward + 0.95 * critic(after).squeeze().detach() - critic(obs).squeeze()  # BUG GS303
    actor_loss = -dist.log_prob(action) * delta  # BUG GS303
    loss = actor_loss + delta.pow(2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    obs = after
