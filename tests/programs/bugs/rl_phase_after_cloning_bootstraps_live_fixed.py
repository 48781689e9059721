"""Behaviour cloning first; the value loss of the second phase differentiates its own target."""

import torch
from torch import nn

torch.manual_seed(0)
trunk = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
policy, value = nn.Linear(16, 3), nn.Linear(16, 1)
optimizer = torch.optim.Adam([*trunk.parameters(), *policy.parameters(), *value.parameters()], lr=1e-3)


def step(loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


for _ in range(400):
    obs = torch.randn(32, 4)
    imitation = nn.functional.cross_entropy(policy(trunk(obs)), obs[:, :3].argmax(-1))
    step(imitation + value(trunk(obs)).pow(2).mean())
for _ in range(60):
    obs, following, reward = torch.randn(32, 4), torch.randn(32, 4), torch.randn(32)
    target = reward + 0.98 * value(trunk(following)).squeeze(-1).detach()
    step((value(trunk(obs)).squeeze(-1) - target).pow(2).mean())
