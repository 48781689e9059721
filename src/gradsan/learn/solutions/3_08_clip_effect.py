import torch
from torch import nn


def update(net: nn.Module, optimizer: torch.optim.Optimizer, states, returns, limit: float) -> None:
    """One step on the mean squared error, each gradient element held to [-limit, limit]."""
    loss = (net(states).squeeze(-1) - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    for parameter in net.parameters():
        parameter.grad.clamp_(-limit, limit)
    optimizer.step()
