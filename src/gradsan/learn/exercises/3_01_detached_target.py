# 3.01  The target holds still
#
# Temporal-difference learning moves an estimate towards a target that is itself
# made of estimates:
#
#     error = V(s)  -  (r + γ · V(s'))
#
# Only V(s) should move. If the gradient also flows through V(s'), the network
# can lower its error by dragging the *next* state's value towards this one's:
# the loss falls, and the values are wrong. Nothing is raised. It is the most
# often reported silent bug of its kind.
#
# `detach()` gives the same number without its history.
#
# Your task: let the gradient reach the value of the present state only.

import torch
from torch import nn


def update(value: nn.Module, optimizer: torch.optim.Optimizer, batch, gamma: float) -> None:
    """One TD(0) step on states, rewards and next states."""
    states, rewards, next_states = batch
    target = rewards + gamma * value(next_states).squeeze(-1)  # TODO: this should be a constant
    loss = (value(states).squeeze(-1) - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
