"""The optimizer of twin critics is given the second one's target: the second critic stays as it began."""

import copy

import torch
from torch import nn


def critic():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))


torch.manual_seed(0)
first, second = critic(), critic()
first_target, second_target = copy.deepcopy(first), copy.deepcopy(second)
parameters = [*first.parameters(), *second_target.parameters()]  # BUG GS205 GS302
optimizer = torch.optim.Adam(parameters, lr=1e-3)  # BUG GS205 GS302

for update in range(24):
    now, following, reward = torch.randn(32, 4), torch.randn(32, 4), torch.randn(32, 1)
    with torch.no_grad():
        wanted = reward + 0.99 * torch.min(first_target(following), second_target(following))
    loss = nn.functional.mse_loss(first(now), wanted) + nn.functional.mse_loss(second(now), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 2:
        for online, target in ((first, first_target), (second, second_target)):
            for new, old in zip(online.parameters(), target.parameters(), strict=True):
                old.data.copy_(0.01 * new.data + 0.99 * old.data)
