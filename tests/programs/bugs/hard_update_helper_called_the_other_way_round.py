"""A helper copies networks; for the critic it is called with the arguments exchanged."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
first, second = nn.Linear(4, 1), nn.Linear(4, 1)
first_target, second_target = copy.deepcopy(first), copy.deepcopy(second)
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=1e-3)


def hard_update(destination, source):
    destination.load_state_dict(source.state_dict())


for update in range(30):
    obs, reward, following = torch.randn(16, 4), torch.randn(16, 1), torch.randn(16, 4)
    with torch.no_grad():
        goal = reward + 0.9 * torch.min(first_target(following), second_target(following))
    loss = (first(obs) - goal).pow(2).mean() + (second(obs) - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 5 == 4:
        hard_update(first_target, first)
        hard_update(second, second_target)  # BUG GS307 GS809
