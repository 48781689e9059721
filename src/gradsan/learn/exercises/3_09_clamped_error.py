# 3.09  Clamping the error itself
#
# "Clip the error to [-1, 1]", says the DQN paper. Taken literally,
#
#     loss = clamp(error, -1, 1)²
#
# has slope zero wherever |error| > 1: the transitions that were most wrong teach
# nothing at all. What is meant is a loss whose *slope* stops growing at 1:
# squared for small errors, straight for large ones. That is the Huber loss,
# `torch.nn.functional.huber_loss` (with delta=1 the same as smooth_l1_loss).
#
# Your task: use the Huber loss (mean over the batch, delta 1).

import torch
from torch import nn


def update(net: nn.Module, optimizer: torch.optim.Optimizer, states, targets) -> None:
    """One step towards `targets` in which a large error counts, but not more than linearly."""
    error = net(states).squeeze(-1) - targets
    loss = 0.5 * error.clamp(-1.0, 1.0).pow(2).mean()  # TODO: what is the slope for an error of 5?
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
