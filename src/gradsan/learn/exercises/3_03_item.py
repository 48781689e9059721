# 3.03  Out of the tensor world and back
#
# `.item()`, `float(t)`, `.tolist()` and `.numpy()` give plain numbers. Numbers
# have no history. A loss that is made of numbers cannot send anything back, and
# backward() says so. Wrapping them in a tensor with requires_grad=True makes the
# error go away and mends nothing: the gradient stops at that new tensor, and the
# network is never trained.
#
# Collect tensors and join them with torch.stack; use `.item()` for the log only.
#
# Your task: let the loss keep its history all the way to the network.

import torch
from torch import nn


def update(net: nn.Module, optimizer: torch.optim.Optimizer, states, returns) -> float:
    """One step on the mean squared error over the episode; returns the loss for the log."""
    squares = []
    for state, outcome in zip(states, returns):
        error = net(state).squeeze() - outcome
        squares.append(error.pow(2).item())  # TODO: here the history is lost …
    loss = torch.tensor(squares, requires_grad=True).mean()  # … and here it is faked
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
