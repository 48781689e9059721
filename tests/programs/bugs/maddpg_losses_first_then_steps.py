"""MADDPG with one centralised critic per agent: all losses are computed first, then stepped one by one."""

import torch
from torch import nn

torch.manual_seed(0)
N, OBS, ACT = 3, 4, 2


class Agent:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(OBS, 16), nn.ReLU(), nn.Linear(16, ACT), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(N * (OBS + ACT), 16), nn.ReLU(), nn.Linear(16, 1))
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)


agents = [Agent() for _ in range(N)]
for agent in agents:
    agent.critic.requires_grad_(False)


def actor_loss(index, obs):
    actions = [a.actor(obs[:, i]) for i, a in enumerate(agents)]
    joint = torch.cat([obs.flatten(1), *actions], dim=1)
    return -agents[index].critic(joint).mean()


for update in range(8):
    obs = torch.randn(16, N, OBS)
    losses = [actor_loss(i, obs) for i in range(N)]
    for agent, loss in zip(agents, losses):
        agent.actor_optimizer.zero_grad()
        loss.backward()
        agent.actor_optimizer.step()  # BUG GS102
