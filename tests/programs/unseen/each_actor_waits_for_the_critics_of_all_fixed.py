"""Several agents with critics that see everybody: the actors' losses are made before the critics step, and run backward after it.
Repaired here.

Round 10
Class: forward errors
"""

import torch
from torch import nn

torch.manual_seed(1001)
AGENTS = 3
actors = nn.ModuleList(nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2)) for _ in range(AGENTS))
critics = nn.ModuleList(
    nn.Sequential(nn.Linear(AGENTS * 6, 32), nn.ReLU(), nn.Linear(32, 1)) for _ in range(AGENTS)
)
actor_opts = [torch.optim.Adam(a.parameters(), lr=1e-3) for a in actors]
critic_opts = [torch.optim.Adam(c.parameters(), lr=1e-3) for c in critics]


def actor_loss(i, obs, acted):
    joint = acted.clone()
    joint[:, i] = actors[i](obs[:, i])
    return -critics[i](torch.cat([obs, joint], -1).flatten(1)).mean()


for update in range(25):
    obs, acted = torch.randn(32, AGENTS, 4), torch.randn(32, AGENTS, 2)
    rewards = obs[..., 0] - acted.pow(2).sum(-1)
    for i in range(AGENTS):
        value = critics[i](torch.cat([obs, acted], -1).flatten(1)).squeeze(-1)
        critic_opts[i].zero_grad()
        (value - rewards[:, i]).pow(2).mean().backward()
        critic_opts[i].step()
    waiting = [actor_loss(i, obs, acted) for i in range(AGENTS)]
    for i in range(AGENTS):
        actor_opts[i].zero_grad()
        waiting[i].backward()
        actor_opts[i].step()
