"""Several backwards into one step whose divisors differ, or look like it, and whose gradient is what is meant."""

import torch
from torch import nn

torch.manual_seed(0)
trunk = nn.Linear(4, 8)
heads = [nn.Linear(8, 1) for _ in range(3)]
optimizer = torch.optim.Adam([*trunk.parameters(), *(p for h in heads for p in h.parameters())], lr=1e-3)
policy = nn.Linear(4, 1)
steps = torch.optim.SGD(policy.parameters(), lr=1e-2)


def errors(*shape):
    return (policy(torch.randn(*shape, 4)).squeeze(-1) - 1.0).pow(2)


for update in range(12):
    # Tasks with heads of their own, each with its own count.
    optimizer.zero_grad()
    for task, head in enumerate(heads):
        mask = (torch.arange(8) < 3 + task).float()
        error = (head(trunk(torch.randn(8, 4))).squeeze(-1) - 1.0).pow(2)
        ((error * mask).sum() / mask.sum()).backward()
    optimizer.step()

    # Episodes of different lengths, each with its own mean.
    for length in (3, 5, 9):
        errors(length).mean().backward()
    steps.step()
    steps.zero_grad()

    # Divided by the size of the batch, the last of which is smaller.
    for size in (4, 4, 2):
        (errors(size, 6).sum() / size).backward()
    steps.step()
    steps.zero_grad()

    # A constant that somebody chose, and the mean over the micro-batches.
    for _ in range(4):
        mask = (torch.arange(6) < torch.randint(1, 7, (4, 1))).float()
        loss = (errors(4, 6) * mask).sum() / 32
        (loss / 4).backward()
    steps.step()
    steps.zero_grad()

    # Per sequence first: every answer counts the same, however long it is.
    for _ in range(4):
        mask = (torch.arange(6) < torch.randint(1, 7, (4, 1))).float()
        ((errors(4, 6) * mask).sum(1) / mask.sum(1)).mean().div(4).backward()
    steps.step()
    steps.zero_grad()

    # Masks of different form with the same count.
    for first in (0, 2, 4):
        mask = ((torch.arange(8) >= first) & (torch.arange(8) < first + 4)).float()
        ((errors(8) * mask).sum() / mask.sum()).backward()
    steps.step()
    steps.zero_grad()

    # Importance weights that are normalised by their own sum.
    for _ in range(3):
        weight = torch.rand(8)
        ((errors(8) * weight).sum() / weight.sum() / 3).backward()
    steps.step()
    steps.zero_grad()

    # One backward for each step, each with its own count.
    for length in (2, 6):
        mask = (torch.arange(8) < length).float()
        ((errors(8) * mask).sum() / mask.sum()).backward()
        steps.step()
        steps.zero_grad()
