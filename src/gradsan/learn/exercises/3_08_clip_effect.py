# 3.08  A clip that changes nothing
#
# The original DQN limited each element of the gradient to [-1, 1]. Written by
# hand, one character decides: `grad.clamp(-1, 1)` *returns* a clipped copy and
# leaves `.grad` as it was; `grad.clamp_(-1, 1)` clips in place. Here, writing in
# place is right: `.grad` is no part of the graph.
#
# Your task: limit each element of every gradient to [-limit, limit].

import torch
from torch import nn


def update(net: nn.Module, optimizer: torch.optim.Optimizer, states, returns, limit: float) -> None:
    """One step on the mean squared error, each gradient element held to [-limit, limit]."""
    loss = (net(states).squeeze(-1) - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    for parameter in net.parameters():
        parameter.grad.clamp(-limit, limit)  # TODO: where does the result go?
    optimizer.step()
