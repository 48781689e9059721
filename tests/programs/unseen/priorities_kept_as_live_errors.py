"""A prioritised replay keeps each transition's TD error as the live tensor that the loss was made of.

Class: stays alive
"""

import copy
import random

import torch
from torch import nn

torch.manual_seed(131)
random.seed(131)


class PrioritisedReplay:
    def __init__(self):
        self.items, self.priorities = [], []

    def add(self, item):
        self.items.append(item)
        self.priorities.append(1.0)

    def sample(self, n):
        weights = [float(p) + 1e-3 for p in self.priorities]
        return random.choices(range(len(self.items)), weights=weights, k=n)

    def update(self, indices, errors):
        for i, error in zip(indices, errors.abs()):
            self.priorities[i] = error  # BUG GS305


online = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 2))
target = copy.deepcopy(online)
optimizer = torch.optim.Adam(online.parameters(), lr=3e-3)
replay = PrioritisedReplay()
for step in range(150):
    obs = torch.randn(3)
    action = random.randrange(2)
    replay.add((obs, action, float(obs[action]), torch.randn(3)))
    indices = replay.sample(8)
    batch = [replay.items[i] for i in indices]
    obs, next_obs = torch.stack([b[0] for b in batch]), torch.stack([b[3] for b in batch])
    action = torch.tensor([b[1] for b in batch]).unsqueeze(1)
    with torch.no_grad():
        goal = torch.tensor([b[2] for b in batch]) + 0.8 * target(next_obs).max(1).values
    errors = online(obs).gather(1, action).squeeze(1) - goal
    optimizer.zero_grad()
    errors.pow(2).mean().backward()
    optimizer.step()
    replay.update(indices, errors)
    if step % 30 == 29:
        target.load_state_dict(online.state_dict())
