# 3.02  How far no_grad reaches
#
# `with torch.no_grad():` switches the recording off for everything inside. It is
# the right place for a target, for an update by hand, for acting in the
# environment. One line too many inside, and the loss has no history: backward()
# then raises "does not require grad", or, if another term still has one, it
# quietly trains that other term alone.
#
# Your task: only the target belongs under no_grad.

import torch
from torch import nn


def update(value: nn.Module, optimizer: torch.optim.Optimizer, batch, gamma: float) -> None:
    """One TD(0) step on states, rewards and next states."""
    states, rewards, next_states = batch
    with torch.no_grad():
        target = rewards + gamma * value(next_states).squeeze(-1)
        estimate = value(states).squeeze(-1)  # TODO: does this line belong here?
    loss = (estimate - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
