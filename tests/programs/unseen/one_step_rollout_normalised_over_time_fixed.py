"""Advantages are normalised over the steps of the rollout; after a change of configuration there is one step.
Repaired here.

Round 5
Class: axes
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(508)

steps, envs = 8, 16
actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)
for update in range(60):
    obs = torch.randn(steps, envs, 4)
    dist, value = Categorical(logits=actor(obs)), critic(obs).squeeze(-1)
    action = dist.sample()
    reward = (action == obs[..., :3].argmax(-1)).float()
    advantage = (reward - value).detach()
    advantage = advantage - advantage.mean(0, keepdim=True)
    loss = -(dist.log_prob(action) * advantage).mean() + 0.5 * (value - reward).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
