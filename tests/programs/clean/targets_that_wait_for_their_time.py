"""Targets that are right to stand still for long: synced rarely, out of step with the start, frozen on purpose,
needed in a first phase only."""

import copy

import torch
from torch import nn

torch.manual_seed(0)


def make():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


def learn(q, target, optimizer):
    obs, action, reward, following = (
        torch.randn(16, 4),
        torch.randint(2, (16, 1)),
        torch.randn(16),
        torch.randn(16, 4),
    )
    with torch.no_grad():
        goal = reward + 0.9 * target(following).max(1).values
    loss = (q(obs).gather(1, action).squeeze(1) - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


# The first sync comes soon because environment steps are counted, the next one much later.
q = make()
target = copy.deepcopy(q)
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
for environment_step in range(960, 1400):
    learn(q, target, optimizer)
    if environment_step % 1000 == 0:
        target.load_state_dict(q.state_dict())

# A sync period that is still to come.
q = make()
target = copy.deepcopy(q)
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
for update in range(300):
    learn(q, target, optimizer)
    if update % 10_000 == 9_999:
        target.load_state_dict(q.state_dict())

# A counter that starts again after each sync, and a period that grows.
q = make()
target = copy.deepcopy(q)
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
since, period = 0, 10
for _ in range(400):
    learn(q, target, optimizer)
    since += 1
    if since == period:
        target.load_state_dict(q.state_dict())
        since, period = 0, 2 * period
