import torch
from torch import nn


def consistency_loss(body: nn.Module, head: nn.Module, states, noise) -> torch.Tensor:
    """How far head(features + noise) is from head(features), plus the size of the clean answer."""
    features = body(states)
    noisy = features.clone()
    noisy += noise
    clean_answer, noisy_answer = head(features), head(noisy)
    return (noisy_answer - clean_answer).pow(2).mean() + 0.1 * clean_answer.pow(2).mean()


def update(body: nn.Module, head: nn.Module, optimizer: torch.optim.Optimizer, states, noise) -> None:
    """One training step on the loss above. This function is right."""
    loss = consistency_loss(body, head, states, noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
