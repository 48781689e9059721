"""Prioritised replay: the importance weights are a vector, the TD errors a column.
Repaired here.

Round 2
Class: axes
"""

import copy
import random
from collections import namedtuple

import torch
from torch import nn

Transition = namedtuple("Transition", "obs action reward next_obs")
torch.manual_seed(214)
random.seed(214)
online = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
target = copy.deepcopy(online)
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
memory = [
    Transition(torch.randn(4), torch.randint(3, (1,)), torch.randn(1), torch.randn(4)) for _ in range(200)
]
priorities = torch.ones(200)


def sample(n):
    probabilities = priorities / priorities.sum()
    index = torch.multinomial(probabilities, n)
    weights = (len(memory) * probabilities[index]).pow(-0.5)
    batch = Transition(*map(torch.stack, zip(*[memory[i] for i in index])))
    return index, batch, weights / weights.max()


for step in range(60):
    index, batch, weights = sample(16)
    current = online(batch.obs).gather(1, batch.action)
    with torch.no_grad():
        goal = batch.reward + 0.9 * target(batch.next_obs).max(1, keepdim=True).values
    error = current - goal
    loss = (weights.unsqueeze(1) * error.pow(2)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    priorities[index] = error.detach().abs().squeeze(1) + 1e-3
    if step % 20 == 19:
        target.load_state_dict(online.state_dict())
