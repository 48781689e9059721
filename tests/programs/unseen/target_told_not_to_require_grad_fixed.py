"""A differential actor-critic tries to make the finished target constant by a flag that only leaves have.
Repaired here.

Class: forward errors
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(21)


class Chain:
    """Eight walkers on a line; the right end pays."""

    def __init__(self, walkers=8, length=4):
        self.length, self.place = length, torch.zeros(walkers, dtype=torch.long)

    def observe(self):
        return nn.functional.one_hot(self.place, self.length).float()

    def step(self, action):
        self.place = (self.place + 2 * action - 1).clamp(0, self.length - 1)
        reward = (self.place == self.length - 1).float()
        self.place[reward > 0] = 0
        return self.observe(), reward


actor, critic = nn.Linear(4, 2), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=5e-2)
env = Chain()
obs, average = env.observe(), 0.0
for step in range(200):
    dist = Categorical(logits=actor(obs))
    action = dist.sample()
    next_obs, reward = env.step(action)
    target = reward - average + critic(next_obs).squeeze(-1)
    target = target.detach()
    delta = target - critic(obs).squeeze(-1)
    average += 0.05 * delta.mean().item()
    loss = delta.pow(2).mean() - (dist.log_prob(action) * delta.detach()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    obs = next_obs
print("average reward", average)
