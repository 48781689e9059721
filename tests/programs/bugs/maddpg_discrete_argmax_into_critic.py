"""Discrete MADDPG without Gumbel-softmax: the arg max goes into the critic."""

import torch
from torch import nn

torch.manual_seed(0)


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, outputs))


actors = nn.ModuleDict({"scout": mlp(4, 3), "guard": mlp(4, 3)})
critic = mlp(8 + 6, 1)
actor_optimizer = torch.optim.Adam(actors.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)


def choose(name, obs):
    logits = actors[name](obs)
    return nn.functional.one_hot(logits.argmax(-1), 3).float()  # BUG GS203


for _ in range(10):
    obs = {name: torch.randn(16, 4) for name in actors}
    stored = nn.functional.one_hot(torch.randint(3, (16, 2)), 3).float().flatten(1)
    joint = torch.cat(list(obs.values()), -1)
    critic_optimizer.zero_grad()
    (critic(torch.cat([joint, stored], -1)).squeeze(-1) - torch.randn(16)).pow(2).mean().backward()
    critic_optimizer.step()
    chosen = torch.cat([choose(name, o) for name, o in obs.items()], -1)
    actor_loss = -critic(torch.cat([joint, chosen], -1)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
