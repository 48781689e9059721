import torch
from torch import nn


def update(value: nn.Module, optimizer: torch.optim.Optimizer, batch, gamma: float) -> None:
    """One TD(0) step on states, rewards and next states."""
    states, rewards, next_states = batch
    target = rewards + gamma * value(next_states).squeeze(-1).detach()
    loss = (value(states).squeeze(-1) - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
