# 2.02  clone()
#
# `b = a` makes no copy: it is a second name for the same tensor. Writing to b
# writes to a. `b = a.clone()` is a copy with memory of its own, and it stays
# part of the graph: gradients flow through a clone to the original.
#
# Below, an agent is trained to give the same answer on its features and on a
# noisy copy of them (a usual trick against overfitting). But the "copy" is not
# one, so both are noisy. Nothing is raised; the loss is just another one.
#
# Your task: let `noisy` be a real copy that gradients still flow through.

import torch
from torch import nn


def consistency_loss(body: nn.Module, head: nn.Module, states, noise) -> torch.Tensor:
    """How far head(features + noise) is from head(features), plus the size of the clean answer."""
    features = body(states)
    noisy = features  # TODO: a second name, not a copy
    noisy += noise
    clean_answer, noisy_answer = head(features), head(noisy)
    return (noisy_answer - clean_answer).pow(2).mean() + 0.1 * clean_answer.pow(2).mean()


def update(body: nn.Module, head: nn.Module, optimizer: torch.optim.Optimizer, states, noise) -> None:
    """One training step on the loss above. This function is right."""
    loss = consistency_loss(body, head, states, noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
