"""A cart is steered by gradients through a learned model, which is fitted before the actor dreams in it.

Round 29
Class: the line
"""

import torch
from torch import nn

torch.manual_seed(2901)
HORIZON, BATCH, UPDATES = 6, 48, 60


def cart(state, force):
    """The true physics: position, speed."""
    position, speed = state.unbind(-1)
    speed = 0.95 * speed + 0.2 * force.squeeze(-1) - 0.05 * torch.sin(2 * position)
    return torch.stack([position + 0.1 * speed, speed], dim=-1)


class WorldModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 2))

    def forward(self, state, force):
        return state + self.net(torch.cat([state, force], dim=-1))


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1), nn.Tanh())

    def forward(self, state):
        return self.net(state)


def dream(world, actor, state):
    cost = torch.zeros(state.shape[0])
    for _ in range(HORIZON):
        force = actor(state)
        state = world(state, force)
        cost = cost + state.pow(2).sum(-1) + 0.01 * force.pow(2).squeeze(-1)
    return cost.mean()


world, actor = WorldModel(), Actor()
world_opt = torch.optim.Adam(world.parameters(), lr=2e-3)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
states = 2 * torch.rand(512, 2) - 1
forces = 2 * torch.rand(512, 1) - 1
followers = cart(states, forces)

for update in range(UPDATES):
    rows = torch.randint(512, (BATCH,))
    model_loss = (world(states[rows], forces[rows]) - followers[rows]).pow(2).mean()
    world_opt.zero_grad()
    model_loss.backward()
    world_opt.step()

    start = states[torch.randint(512, (BATCH,))]
    actor_loss = dream(world, actor, start)
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
    if update % 20 == 0:
        print(update, model_loss.item(), actor_loss.item())
