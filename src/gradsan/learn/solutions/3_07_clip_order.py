import torch
from torch import nn


def update(net: nn.Module, optimizer: torch.optim.Optimizer, states, returns, max_norm: float) -> None:
    """One step on the mean squared error, with the gradient's length held to `max_norm`."""
    loss = (net(states).squeeze(-1) - returns).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), max_norm)
    optimizer.step()
