"""An actor is trained in a learned model; the returns of the dream are written, step by step, into one buffer of which
the step after has kept a slice for its backward.

Round 12
Class: forward errors
"""

import torch
from torch import nn

torch.manual_seed(1208)
HORIZON, BATCH, STATE, ACTION = 6, 24, 5, 2


class World(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(STATE + ACTION, 32), nn.ELU())
        self.change = nn.Linear(32, STATE)
        self.reward = nn.Linear(32, 1)
        self.alive = nn.Linear(32, 1)

    def forward(self, state, action):
        hidden = self.body(torch.cat([state, action], -1))
        going_on = torch.sigmoid(self.alive(hidden) + 2.0).squeeze(-1)
        return state + 0.1 * self.change(hidden), self.reward(hidden).squeeze(-1), going_on


def truth(state, action):
    after = state + 0.1 * action.repeat(1, 3)[:, :STATE]
    reward = -after.pow(2).mean(-1)
    return after, reward, (after.abs().max(-1).values < 2.5).float()


def dream(world, actor, state):
    rewards, discounts = [], []
    for _ in range(HORIZON):
        state, reward, going_on = world(state, actor(state))
        rewards.append(reward)
        discounts.append(0.97 * going_on)
    return rewards, discounts


def returns_of(rewards, discounts):
    returns = torch.zeros(HORIZON + 1, BATCH)
    for t in reversed(range(HORIZON)):
        returns[t] = rewards[t] + discounts[t] * returns[t + 1]  # BUG GS101
    return returns[:-1]


world = World()
actor = nn.Sequential(nn.Linear(STATE, 32), nn.ELU(), nn.Linear(32, ACTION), nn.Tanh())
world_opt = torch.optim.Adam(world.parameters(), lr=3e-3)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
for update in range(40):
    state, action = torch.randn(BATCH, STATE), torch.rand(BATCH, ACTION) * 2 - 1
    after, reward, alive = truth(state, action)
    told, paid, going_on = world(state, action)
    world_loss = (told - after).pow(2).mean() + (paid - reward).pow(2).mean()
    world_loss = world_loss + nn.functional.binary_cross_entropy(going_on, alive)
    world_opt.zero_grad()
    world_loss.backward()
    world_opt.step()

    actor_loss = -returns_of(*dream(world, actor, state)).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
print("actor", actor_loss.item(), "world", world_loss.item())
